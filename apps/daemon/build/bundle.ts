import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { loadBuiltinsLate, replaceUnused } from './slim-modules.ts'

/** The name of the foreign-function library's binary beside the bundle. */
export const KOFFI_BINARY = 'koffi.node'

/** That of the polling library's code, which few sandboxes ever load. */
const CHOKIDAR_BUNDLE = 'chokidar.cjs'
const COMMON = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'esnext',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions

/** Bundles the daemon into one CommonJS file, which starts faster than modules do, and what is rarely needed into another one beside it. */
export async function bundleDaemon(outfile: string): Promise<void> {
  await build({
    ...COMMON,
    entryPoints: [join(import.meta.dirname, '../src/main.ts')],
    outfile,
    // A library's print of a stack for each client that goes away mid-stream is no log of ours.
    drop: ['console'],
    // One function of `require`: the launcher compiles it as a script.
    banner: { js: '(function(require){' },
    footer: { js: '})' },
    plugins: [loadBeside, replaceUnused, loadBuiltinsLate],
  })
  await build({
    ...COMMON,
    entryPoints: [fileURLToPath(import.meta.resolve('chokidar'))],
    outfile: join(dirname(outfile), CHOKIDAR_BUNDLE),
    // The library would let the variables of an image decide how the daemon watches.
    define: { 'process.env.CHOKIDAR_USEPOLLING': 'undefined', 'process.env.CHOKIDAR_INTERVAL': 'undefined' },
  })
}

/** Bundles the tool that prepares images into one file of its own: the daemon neither has nor loads anything of it. */
export async function bundleImageTool(outfile: string): Promise<void> {
  await build({
    ...COMMON,
    entryPoints: [join(import.meta.dirname, '../src/image-tool/main.ts')],
    outfile,
    define: { 'import.meta.dirname': '__dirname' },
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

/** What is loaded from beside the bundle. The foreign-function library's own loader looks into Node's executable, here the dynamic loader. */
const BESIDE: Readonly<Record<string, string>> = { koffi: KOFFI_BINARY, chokidar: CHOKIDAR_BUNDLE }

const loadBeside: Plugin = {
  name: 'load-beside',
  setup(builder) {
    builder.onResolve({ filter: /^(?:koffi|chokidar)$/ }, ({ path }) => ({ path, namespace: 'beside' }))
    builder.onResolve({ filter: /./, namespace: 'beside' }, ({ path }) => ({ path, external: true }))
    builder.onLoad({ filter: /./, namespace: 'beside' }, ({ path }) => ({ contents: `module.exports = require('./${BESIDE[path]}')` }))
  },
}
