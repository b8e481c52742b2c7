import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** The name of the foreign-function library's binary beside the bundle. */
export const KOFFI_BINARY = 'koffi.node'

/** Parts of Fastify that the daemon never comes to: TLS, HTTP/2, injected test requests, versions of plugins, compilers of schemas. */
const NEVER_USED = /^(?:node:https|node:http2|light-my-request|semver|@fastify\/ajv-compiler|@fastify\/fast-json-stringify-compiler)$/

/**
 * Bundles the daemon into one CommonJS file, which starts faster than modules do. What it never uses is left out, since each sandbox pays
 * for it with time and memory.
 */
export async function bundleDaemon(outfile: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, '../src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'esnext',
    minify: true,
    keepNames: true,
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [koffiBeside, withoutUnused, builtinsWithoutEffects],
  })
}

/** The file that Node loads the foreign-function library from on this machine. */
export function findKoffiBinary(): string {
  const koffi = createRequire(join(import.meta.dirname, '../src/main.ts')).resolve('koffi')
  const binding = `@koromix/koffi-${process.platform}-${process.arch}`
  const loader = createRequire(koffi).resolve(binding)
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  return join(loader, '..', `${header.glibcVersionRuntime === undefined ? 'musl' : process.platform}_${process.arch}`, KOFFI_BINARY)
}

/** The library's own loader looks around `node_modules` and into Node's executable, which in a sandbox is the dynamic loader. */
const koffiBeside: Plugin = {
  name: 'koffi-beside',
  setup(builder) {
    builder.onResolve({ filter: /^koffi$/ }, () => ({ path: 'koffi', namespace: 'beside' }))
    builder.onResolve({ filter: /./, namespace: 'beside' }, ({ path }) => ({ path, external: true }))
    builder.onLoad({ filter: /./, namespace: 'beside' }, () => ({ contents: `module.exports = require('./${KOFFI_BINARY}')` }))
  },
}

const withoutUnused: Plugin = {
  name: 'without-unused',
  setup(builder) {
    builder.onResolve({ filter: NEVER_USED }, ({ path }) => ({ path, namespace: 'unused' }))
    builder.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/** Lets an import of a builtin go where nothing of it is used. */
const builtinsWithoutEffects: Plugin = {
  name: 'builtins-without-effects',
  setup(builder) {
    builder.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }))
  },
}
