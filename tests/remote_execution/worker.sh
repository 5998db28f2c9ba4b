# First program of a worker, inside its own root folder: the worker's cache, then the worker.
# usage: sh worker.sh PORT NAME JOBS STAGING, the last as buildbox-run's --staging-mode
/usr/bin/busybox umount -l /old
/usr/bin/busybox mount -t proc proc /proc
buildbox-casd --bind unix:/state/casd.sock --cas-remote "http://127.0.0.1:$1" /state/casd &
while [ ! -S /state/casd.sock ]; do /usr/bin/busybox sleep 0.2; done
exec buildbox-worker --bots-remote="http://127.0.0.1:$1" --cas-remote=unix:/state/casd.sock \
  --buildbox-run=/usr/bin/buildbox-run-bubblewrap --runner-arg=--staging-mode="$4" \
  --runner-arg=--ro-bind-mount=/actions/usr:/usr --runner-arg=--ro-bind-mount=/actions/usr/bin:/bin \
  --runner-arg=--ro-bind-mount=/actions/usr/lib:/lib --runner-arg=--ro-bind-mount=/actions/usr/lib64:/lib64 \
  --platform OSFamily=linux --concurrent-jobs="$3" "$2"
