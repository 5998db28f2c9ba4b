// Loaded into the programs of a build (LD_PRELOAD): a compiler that is started
// by its path, as a CMakeCache.txt or a Makefile has it, or found on a PATH of
// the build's own, is started through record.sh as one that is found on PATH.
// What a build removes from the variables of its compilers (env -i, SCons) is
// put back.
//   MLGO_LINKS   folder of links to record.sh, named after compilers
//   MLGO_BIN     folder of clang
//   MLGO_OWN     folder of the project: a compiler that it builds itself is
//   started as it is MLGO_NESTED  set below record.sh: nothing is replaced
//   MLGO_ALIVE   folder that is there until `mlgo` ends: servers of the build,
//   such as sccache's, live longer and then start what they are asked for
//   MLGO_ASKED   set here: the compiler that was asked for
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { ASKED_SIZE = PATH_MAX + 16, MOST_KEPT = 24 };

// The variables of `mlgo` when this process began; none below record.sh.
static char *Kept[MOST_KEPT + 1];
static size_t KeptCount;

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

static int beginsWith(const char *Text, const char *Begin) {
  return !strncmp(Text, Begin, strlen(Begin));
}

__attribute__((constructor)) static void keepVariables(void) {
  if (valueOf(environ, "MLGO_NESTED") || !valueOf(environ, "MLGO_LINKS"))
    return;
  for (char **Variable = environ; *Variable && KeptCount < MOST_KEPT;
       ++Variable)
    if (beginsWith(*Variable, "LD_PRELOAD=") ||
        (beginsWith(*Variable, "MLGO_") &&
         !beginsWith(*Variable, "MLGO_ASKED=")))
      if ((Kept[KeptCount] = strdup(*Variable)))
        ++KeptCount;
}

static const char *baseOf(const char *Path) {
  const char *Slash = strrchr(Path, '/');
  return Slash ? Slash + 1 : Path;
}

static int isOneOf(const char *Name, const char *const *Names) {
  for (; *Names; ++Names)
    if (!strcmp(Name, *Names))
      return 1;
  return 0;
}

// Programs that start compilers. Others, such as tests of the project, find the
// variables that they were given.
static int startsCompilers(const char *Base) {
  static const char *const Names[] = {
      "bash", "ccache", "cmake", "dash",    "env", "gmake", "libtool",
      "make", "ninja",  "perl",  "sccache", "sh",  "time",  NULL};
  return isOneOf(Base, Names) || beginsWith(Base, "python");
}

// Builds that compare what their compilers read with a list of files: they
// start as without `mlgo`.
static int isHermetic(const char *Base) {
  static const char *const Names[] = {"bazel",     "bazelisk", "buck2", "nix",
                                      "nix-build", "tup",      NULL};
  return isOneOf(Base, Names);
}

// What is started in the place of a program.
struct Start {
  const char *Path;
  char Link[PATH_MAX], Asked[ASKED_SIZE], Found[PATH_MAX];
};

static size_t countOf(char *const *Variables) {
  size_t Count = 0;
  while (Variables && Variables[Count])
    ++Count;
  return Count;
}

// Room for PATH with the folder of links before it.
static size_t searchSize(char *const *Variables) {
  const char *Search = valueOf(Variables, "PATH");
  return (Search ? strlen(Search) : 0) + PATH_MAX + 16;
}

static int isAlive(char *const *Variables) {
  const char *Alive = valueOf(Variables, "MLGO_ALIVE");
  return Alive && !access(Alive, F_OK);
}

// Whether a link stands for the program; writes its path.
static int findLink(const char *Path, char *const *Variables,
                    char Link[PATH_MAX]) {
  const char *Links = valueOf(Variables, "MLGO_LINKS");
  if (!Links || !*Links || valueOf(Variables, "MLGO_NESTED") ||
      !isAlive(Variables))
    return 0;
  if (isBelow(Path, valueOf(Variables, "MLGO_OWN")) &&
      !isBelow(Path, valueOf(Variables, "MLGO_BIN")))
    return 0;
  const int Length = snprintf(Link, PATH_MAX, "%s/%s", Links, baseOf(Path));
  return Length > 0 && Length < PATH_MAX && !access(Link, X_OK);
}

// The program that a name stands for on this process's PATH; the name: none.
static const char *onPath(const char *Name, char Found[PATH_MAX]) {
  const char *Folders = valueOf(environ, "PATH");
  for (Folders = Folders ? Folders : "/bin:/usr/bin";; ++Folders) {
    const int Size = (int)strcspn(Folders, ":");
    if (snprintf(Found, PATH_MAX, "%.*s/%s", Size, Folders, Name) < PATH_MAX &&
        !access(Found, X_OK))
      return Found;
    Folders += Size;
    if (!*Folders)
      return Name;
  }
}

// The variables without those of `mlgo`: recording.py keeps what CC and others
// were as MLGO_WAS_CC.
static void restore(char *const *Variables, char **Next, char *Search,
                    size_t Size) {
  const char *Links = valueOf(Variables, "MLGO_LINKS");
  for (char *const *Variable = Variables; *Variable; ++Variable) {
    const char *Place = strstr(*Variable, Links);
    if (beginsWith(*Variable, "MLGO_"))
      continue;
    if (beginsWith(*Variable, "PATH=") && Place) {
      const char *Rest = Place + strlen(Links);
      const int IsLast = !*Rest && Place[-1] == ':';
      snprintf(Search, Size, "%.*s%s", (int)(Place - *Variable) - IsLast,
               *Variable, Rest + (*Rest == ':'));
      *Next++ = Search;
    } else if (beginsWith(*Variable, "LD_PRELOAD=") ||
               strstr(*Variable, "/lib/mlgo/record/")) {
      char Was[ASKED_SIZE];
      snprintf(Was, ASKED_SIZE, "MLGO_WAS_%.*s", (int)strcspn(*Variable, "="),
               *Variable);
      if (valueOf(Variables, Was))
        *Next++ = (char *)valueOf(Variables, Was);
    } else
      *Next++ = *Variable;
  }
  *Next = NULL;
}

// Whether something else is started, which Result, Search and Variables of it
// describe. All on the stack: between vfork and the start of a program nothing
// may be allocated.
static int change(const char *Path, char *const *Variables, struct Start *Start,
                  char **Result, char *Search) {
  if (!Path)
    return 0;
  const char *Base = baseOf(Path);
  const size_t Size = searchSize(Variables);
  char **Next = Result;
  Start->Path = Path;
  if (isHermetic(Base) && valueOf(Variables, "MLGO_LINKS")) {
    restore(Variables, Next, Search, Size);
    return 1;
  }
  const int IsCleared = KeptCount && !valueOf(Variables, "MLGO_LINKS") &&
                        !valueOf(Variables, "MLGO_NESTED") && isAlive(Kept);
  char *const *Known = IsCleared ? Kept : Variables;
  if (!strchr(Path, '/'))
    Path = onPath(Path, Start->Found);
  const int IsLink = *Path == '/'
                         ? findLink(Path, Known, Start->Link) && isProgram(Path)
                         : IsCleared && !strchr(Path, '/') &&
                               findLink(Path, Known, Start->Link);
  if (!IsLink && !(IsCleared && startsCompilers(Base)))
    return 0;
  if (IsLink)
    Start->Path = Start->Link;
  if (IsLink && *Path == '/') {
    snprintf(Start->Asked, ASKED_SIZE, "MLGO_ASKED=%s", Path);
    *Next++ = Start->Asked;
  }
  if (IsCleared) {
    const int HasPreload = valueOf(Variables, "LD_PRELOAD") != NULL;
    for (size_t Place = 0; Place != KeptCount; ++Place)
      if (!HasPreload || !beginsWith(Kept[Place], "LD_PRELOAD="))
        *Next++ = Kept[Place];
  }
  for (; Variables && *Variables; ++Variables) {
    const char *Folders =
        beginsWith(*Variables, "PATH=") ? *Variables + strlen("PATH=") : NULL;
    if (IsCleared && Folders) {
      snprintf(Search, Size, "PATH=%s:%s", valueOf(Kept, "MLGO_LINKS"),
               Folders);
      *Next++ = Search;
    } else if (!beginsWith(*Variables, "MLGO_ASKED="))
      *Next++ = *Variables;
  }
  *Next = NULL;
  return 1;
}

int execve(const char *Path, char *const Arguments[], char *const Variables[]) {
  int (*Next)(const char *, char *const[], char *const[]) =
      (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT,
                                                                 "execve");
  struct Start Start;
  char *More[countOf(Variables) + MOST_KEPT + 2], Search[searchSize(Variables)];
  if (strchr(Path, '/') && change(Path, Variables, &Start, More, Search))
    return Next(Start.Path, Arguments, More);
  return Next(Path, Arguments, Variables);
}

int execv(const char *Path, char *const Arguments[]) {
  return execve(Path, Arguments, environ);
}

int execvpe(const char *Path, char *const Arguments[],
            char *const Variables[]) {
  int (*Next)(const char *, char *const[], char *const[]) =
      (int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT,
                                                                 "execvpe");
  struct Start Start;
  char *More[countOf(Variables) + MOST_KEPT + 2], Search[searchSize(Variables)];
  if (change(Path, Variables, &Start, More, Search))
    return Next(Start.Path, Arguments, More);
  return Next(Path, Arguments, Variables);
}

int execvp(const char *Path, char *const Arguments[]) {
  return execvpe(Path, Arguments, environ);
}

typedef int Spawn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                  const posix_spawnattr_t *, char *const[], char *const[]);

static int spawn(Spawn *Next, pid_t *Process, const char *Path,
                 const posix_spawn_file_actions_t *Actions,
                 const posix_spawnattr_t *Attributes, char *const Arguments[],
                 char *const Variables[]) {
  struct Start Start;
  char *More[countOf(Variables) + MOST_KEPT + 2], Search[searchSize(Variables)];
  if (change(Path, Variables, &Start, More, Search))
    return Next(Process, Start.Path, Actions, Attributes, Arguments, More);
  return Next(Process, Path, Actions, Attributes, Arguments, Variables);
}

int posix_spawn(pid_t *Process, const char *Path,
                const posix_spawn_file_actions_t *Actions,
                const posix_spawnattr_t *Attributes, char *const Arguments[],
                char *const Variables[]) {
  return spawn((Spawn *)dlsym(RTLD_NEXT, "posix_spawn"), Process, Path, Actions,
               Attributes, Arguments, Variables);
}

int posix_spawnp(pid_t *Process, const char *Path,
                 const posix_spawn_file_actions_t *Actions,
                 const posix_spawnattr_t *Attributes, char *const Arguments[],
                 char *const Variables[]) {
  return spawn((Spawn *)dlsym(RTLD_NEXT, "posix_spawnp"), Process, Path,
               Actions, Attributes, Arguments, Variables);
}
