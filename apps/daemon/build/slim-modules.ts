import { createRequire } from 'node:module'
import type { Plugin } from 'esbuild'

/**
 * Replacements for modules that Fastify and the Connect library load at start and of which the daemon uses little or nothing: TLS, HTTP/2,
 * schemas, versions of plugins, assertions, measurements. Each costs 1 to 25 ms of CPU time per start or 0.4 to 2.1 MiB per idle sandbox.
 * Cheaper modules are not replaced.
 */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  'node:https': 'module.exports = {}',
  'node:http2': 'module.exports = {}',
  '@fastify/ajv-compiler': 'module.exports = {}',
  '@fastify/fast-json-stringify-compiler': 'module.exports = {}',
  semver: 'module.exports = {}',
  // Fastify and its router only ask for a truth, for the time, and for the addresses of `localhost`.
  'node:assert': 'module.exports = (isTrue, message) => { if (!isTrue) throw new Error(message) }',
  'node:perf_hooks': 'module.exports = { performance: { now: () => globalThis.performance.now() } }',
  'node:dns': "exports.lookup = (...args) => process.getBuiltinModule('node:dns').lookup(...args)",
}

/** Builtins that take milliseconds to load and that an idle sandbox does not need. */
const LATE_BUILTINS: readonly string[] = ['node:child_process', 'node:crypto', 'node:fs/promises', 'node:zlib']

/** Replaces expensive modules that are never used. */
export const replaceUnused: Plugin = {
  name: 'replace-unused',
  setup(builder) {
    const names = Object.keys(REPLACEMENTS).map((name) => name.replaceAll('/', '\\/'))
    builder.onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({ path, namespace: 'replacement' }))
    builder.onLoad({ filter: /./, namespace: 'replacement' }, ({ path }) => ({ contents: REPLACEMENTS[path] ?? '' }))
  },
}

/** Loads some builtins at the first call of one of their functions. Only functions can be imported from them; esbuild checks this. */
export const loadBuiltinsLate: Plugin = {
  name: 'load-builtins-late',
  setup(builder) {
    builder.onResolve({ filter: /^node:/ }, ({ path, kind, namespace }) =>
      kind === 'require-call' || namespace === 'late' || !LATE_BUILTINS.includes(path)
        ? { path, external: true, sideEffects: false }
        : { path, namespace: 'late', sideEffects: false },
    )
    builder.onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({ contents: lateModule(path) }))
  },
}

function lateModule(name: string): string {
  const builtin = createRequire(import.meta.url)(name) as Record<string, unknown>
  const functions = Object.keys(builtin).filter((key) => /^[a-z]/.test(key) && typeof builtin[key] === 'function')
  const exports = functions.map((key) => `export const ${key} = (...args) => process.getBuiltinModule('${name}').${key}(...args)`)
  return exports.join('\n')
}
