// Compiles of one module that share what comes before the first decision of a policy.

#ifndef MLGO_DEVELOPMENT_SERVER_DECISION_POINT_H
#define MLGO_DEVELOPMENT_SERVER_DECISION_POINT_H

#include <string>
#include <vector>

namespace mlgo {

// Compiles as cc1 does, with `arguments` (the program's name first) which write the object to stdout, or to /dev/null when
// only logs are wanted, and a compile may end with the last decision. Just before the first use
// of the policy it announces itself on `announcement`, and reads from `socket` what is to be finished: a child for each goes
// on from there, in the directory of the request, and only children return. Returns 0 when the compile ended well.
int CompileFromDecisionPoint(const std::vector<std::string> &arguments, int socket, int announcement);

}  // namespace mlgo

#endif  // MLGO_DEVELOPMENT_SERVER_DECISION_POINT_H
