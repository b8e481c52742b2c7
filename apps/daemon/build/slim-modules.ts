import { createRequire } from 'node:module'
import type { Plugin } from 'esbuild'

/**
 * What stands in for modules of which the daemon uses nothing, or next to nothing, by the code of each. Fastify asks for them at its start
 * for TLS, HTTP/2, names of hosts, proxies in front, injected test requests, versions of plugins, routes with regular expressions and schemas.
 */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  'node:https': 'module.exports = {}',
  'node:http2': 'module.exports = {}',
  'node:dns': 'module.exports = {}',
  'node:perf_hooks': 'module.exports = { performance }',
  'node:assert': 'module.exports = (value, message) => { if (!value) throw new Error(message) }',
  '@fastify/ajv-compiler': 'module.exports = {}',
  '@fastify/fast-json-stringify-compiler': 'module.exports = {}',
  '@fastify/proxy-addr': 'module.exports = {}',
  'light-my-request': 'module.exports = {}',
  'safe-regex2': 'module.exports = () => true',
  semver: 'module.exports = {}',
}

/** Builtins that take milliseconds to load and that an idle sandbox has no use for. */
const LATE_BUILTINS: readonly string[] = ['node:child_process', 'node:crypto', 'node:fs/promises', 'node:zlib']

/** Leaves out what a sandbox would pay for with time and memory and never use. */
export const replaceUnused: Plugin = {
  name: 'replace-unused',
  setup(builder) {
    const names = Object.keys(REPLACEMENTS).map((name) => name.replaceAll('/', '\\/'))
    builder.onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({ path, namespace: 'replacement' }))
    builder.onLoad({ filter: /./, namespace: 'replacement' }, ({ path }) => ({ contents: REPLACEMENTS[path] ?? '' }))
  },
}

/** Loads some builtins at the first call of one of their functions. Only functions can be imported from them then, which esbuild checks. */
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
