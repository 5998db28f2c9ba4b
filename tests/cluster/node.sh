# First program of a node, in its root folder: a raylet, again whenever it ends, as a service manager would start it.
# usage: sh node.sh PYTHON OPTION...   (options of `ray start`)
mount -t proc proc /proc
umount -l /old
python=$1
shift
while :; do
  "$python" /node/ray_command.py start --block "$@"
  echo "node.sh: the node has ended (exit code $?) and starts again"
  sleep 2
done
