/** Read by glibc's loader, OpenSSL and libuv. */
const NATIVE = `
  LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH LD_BIND_NOW LD_BIND_NOT LD_DEBUG LD_DEBUG_OUTPUT LD_DYNAMIC_WEAK LD_HWCAP_MASK
  LD_ORIGIN_PATH LD_PROFILE LD_PROFILE_OUTPUT LD_SHOW_AUXV LD_TRACE_LOADED_OBJECTS LD_USE_LOAD_BIAS LD_VERBOSE LD_WARN
  GLIBC_TUNABLES GCONV_PATH GETCONF_DIR LOCPATH MALLOC_TRACE NLSPATH RES_OPTIONS LOCALDOMAIN HOSTALIASES TMPDIR
  UV_THREADPOOL_SIZE UV_USE_IO_URING OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES SSLKEYLOGFILE SSL_CERT_DIR SSL_CERT_FILE
`

/** Read by Node, each with the prefix `NODE_`. `NODE_ENV` is not in the list, because Node itself does not read it. */
const NODE = `
  CHANNEL_FD CHANNEL_SERIALIZATION_MODE COMPILE_CACHE COMPILE_CACHE_PORTABLE DEBUG DEBUG_NATIVE EXTRA_CA_CERTS ICU_DATA
  NO_WARNINGS OPTIONS PATH PENDING_DEPRECATION PENDING_PIPE_INSTANCES PRESERVE_SYMLINKS PRESERVE_SYMLINKS_MAIN
  REDIRECT_WARNINGS REPL_EXTERNAL_MODULE REPL_HISTORY SKIP_PLATFORM_CHECK TEST_CONTEXT TLS_REJECT_UNAUTHORIZED UNIQUE_ID
  USE_ENV_PROXY USE_SYSTEM_CA V8_COVERAGE
`

/**
 * The variables that change the daemon's loader, libraries or Node. The daemon starts with the environment of the user's
 * image. These variables are removed from it, so an image can neither run code in the daemon nor break it. The user's processes
 * are not affected: of the daemon's environment they get PATH only (envd.md 8.4).
 */
export const MASKED_ENV: readonly string[] = [...words(NATIVE), ...words(NODE).map((name) => `NODE_${name}`)]

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
