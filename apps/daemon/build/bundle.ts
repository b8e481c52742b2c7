import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { loadBuiltinsLate, replaceUnused } from './slim-modules.ts'

/** The name of the foreign-function library's binary beside the bundle. */
export const KOFFI_BINARY = 'koffi.node'

/** Bundles the daemon into one CommonJS file, which starts faster than modules do. */
export async function bundleDaemon(outfile: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, '../src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'esnext',
    minify: true,
    // A library's print of a stack for each client that goes away mid-stream is no log of ours.
    drop: ['console'],
    // A library would let the image's variables decide how the daemon watches.
    define: { 'process.env.CHOKIDAR_USEPOLLING': 'undefined', 'process.env.CHOKIDAR_INTERVAL': 'undefined' },
    // One function of `require`: the launcher compiles it as a script.
    banner: { js: '(function(require){' },
    footer: { js: '})' },
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [koffiBeside, replaceUnused, loadBuiltinsLate],
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
