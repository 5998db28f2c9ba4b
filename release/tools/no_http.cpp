// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Takes the place of LLVM's HTTP client, whose packaged form needs libcurl.
/// llvm-symbolizer and llvm-profdata would use it to fetch debug information
/// from servers named in DEBUGINFOD_URLS; they find that there is no client,
/// and fetch none.

#include "llvm/Config/llvm-config.h"
#if LLVM_VERSION_MAJOR >= 23
#include "llvm/HTTP/HTTPClient.h"
#else
#include "llvm/Debuginfod/HTTPClient.h"
#endif
#include "llvm/Support/Errc.h"

using namespace llvm;

HTTPRequest::HTTPRequest(StringRef Url) { this->Url = Url.str(); }

bool operator==(const HTTPRequest &A, const HTTPRequest &B) {
  return A.Url == B.Url && A.Method == B.Method &&
         A.FollowRedirects == B.FollowRedirects;
}

HTTPResponseHandler::~HTTPResponseHandler() = default;

bool HTTPClient::IsInitialized = false;
HTTPClient::HTTPClient() = default;
HTTPClient::~HTTPClient() = default;
bool HTTPClient::isAvailable() { return false; }
void HTTPClient::initialize() {}
void HTTPClient::cleanup() {}
void HTTPClient::setTimeout(std::chrono::milliseconds) {}
unsigned HTTPClient::responseCode() { return 0; }

Error HTTPClient::perform(const HTTPRequest &, HTTPResponseHandler &) {
  return createStringError(errc::not_supported, "this program has no HTTP");
}
