// Loaded into the programs of a build (LD_PRELOAD): a compiler that is started by its path, as a CMakeCache.txt or a
// Makefile has it, is started through record.sh as one that is found on PATH.
//   MLGO_LINKS   folder of links to record.sh, named after compilers
//   MLGO_BIN     folder of clang
//   MLGO_OWN     folder of the project: a compiler that it builds itself is started as it is
//   MLGO_NESTED  set below record.sh: nothing is replaced
//   MLGO_ASKED   set here: the compiler that was asked for
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { ASKED_SIZE = PATH_MAX + 16 };

static const char *valueOf(char *const *Variables, const char *Name) {
  const size_t Length = strlen(Name);
  for (; Variables && *Variables; ++Variables)
    if (!strncmp(*Variables, Name, Length) && (*Variables)[Length] == '=')
      return *Variables + Length + 1;
  return NULL;
}

static int isBelow(const char *Path, const char *Folder) {
  const size_t Length = Folder ? strlen(Folder) : 0;
  return Length && !strncmp(Path, Folder, Length) && Path[Length] == '/';
}

// A script is a wrapper of the project, which starts the compiler itself.
static int isProgram(const char *Path) {
  char Begin[4] = {0};
  const int File = open(Path, O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return 0;
  const ssize_t Size = read(File, Begin, sizeof Begin);
  close(File);
  return Size == 4 && !memcmp(Begin, "\177ELF", 4) && !access(Path, X_OK);
}

// Whether a link stands for the program at Path; writes its path to Link.
static int findLink(const char *Path, char *const *Variables, char Link[PATH_MAX]) {
  const char *Base = Path ? strrchr(Path, '/') : NULL;
  const char *Links = valueOf(Variables, "MLGO_LINKS");
  if (!Base || *Path != '/' || !Links || !*Links || valueOf(Variables, "MLGO_NESTED"))
    return 0;
  if (isBelow(Path, valueOf(Variables, "MLGO_OWN")) && !isBelow(Path, valueOf(Variables, "MLGO_BIN")))
    return 0;
  const int Length = snprintf(Link, PATH_MAX, "%s%s", Links, Base);
  return Length > 0 && Length < PATH_MAX && !access(Link, X_OK) && isProgram(Path);
}

static size_t countOf(char *const *Variables) {
  size_t Count = 0;
  while (Variables && Variables[Count])
    ++Count;
  return Count;
}

// The variables and MLGO_ASKED in Result, which has room for two more pointers.
static void addAsked(char *const *Variables, const char *Path, char Text[ASKED_SIZE], char **Result) {
  snprintf(Text, ASKED_SIZE, "MLGO_ASKED=%s", Path);
  *Result++ = Text;
  for (; *Variables; ++Variables)
    if (strncmp(*Variables, "MLGO_ASKED=", strlen("MLGO_ASKED=")))
      *Result++ = *Variables;
  *Result = NULL;
}

// All on the stack: between vfork and the start of a program nothing may be allocated.
int execve(const char *Path, char *const Arguments[], char *const Variables[]) {
  int (*Next)(const char *, char *const[], char *const[]) =
      (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve");
  char Link[PATH_MAX], Asked[ASKED_SIZE];
  if (!findLink(Path, Variables, Link))
    return Next(Path, Arguments, Variables);
  char *More[countOf(Variables) + 2];
  addAsked(Variables, Path, Asked, More);
  return Next(Link, Arguments, More);
}

int execv(const char *Path, char *const Arguments[]) { return execve(Path, Arguments, environ); }

int execvpe(const char *Path, char *const Arguments[], char *const Variables[]) {
  int (*Next)(const char *, char *const[], char *const[]) =
      (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execvpe");
  char Link[PATH_MAX];
  if (findLink(Path, Variables, Link))
    return execve(Path, Arguments, Variables);
  return Next(Path, Arguments, Variables);
}

int execvp(const char *Path, char *const Arguments[]) { return execvpe(Path, Arguments, environ); }

typedef int Spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
                  char *const[]);

static int spawn(Spawn *Next, pid_t *Process, const char *Path, const posix_spawn_file_actions_t *Actions,
                 const posix_spawnattr_t *Attributes, char *const Arguments[], char *const Variables[]) {
  char Link[PATH_MAX], Asked[ASKED_SIZE];
  if (!findLink(Path, Variables, Link))
    return Next(Process, Path, Actions, Attributes, Arguments, Variables);
  char *More[countOf(Variables) + 2];
  addAsked(Variables, Path, Asked, More);
  return Next(Process, Link, Actions, Attributes, Arguments, More);
}

int posix_spawn(pid_t *Process, const char *Path, const posix_spawn_file_actions_t *Actions,
                const posix_spawnattr_t *Attributes, char *const Arguments[], char *const Variables[]) {
  return spawn((Spawn *)dlsym(RTLD_NEXT, "posix_spawn"), Process, Path, Actions, Attributes, Arguments, Variables);
}

int posix_spawnp(pid_t *Process, const char *Path, const posix_spawn_file_actions_t *Actions,
                 const posix_spawnattr_t *Attributes, char *const Arguments[], char *const Variables[]) {
  return spawn((Spawn *)dlsym(RTLD_NEXT, "posix_spawnp"), Process, Path, Actions, Attributes, Arguments, Variables);
}
