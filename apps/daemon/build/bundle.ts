import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop, type BuildOptions, type Plugin } from 'esbuild'
import { loadBuiltinsLate, replaceUnused } from './slim-modules.ts'

/** File names of the native code beside the bundle: of the foreign-function library and of the terminal library. */
export const KOFFI_BINARY = 'koffi.node'
export const PTY_BINARY = 'pty.node'

/** The bundle of the polling library, which few sandboxes load. */
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

/** Bundles the daemon into one CommonJS file, which starts faster than modules, and the polling library into a second file beside it. */
export async function bundleDaemon(outfile: string): Promise<void> {
  await build({
    ...COMMON,
    entryPoints: [join(import.meta.dirname, '../src/main.ts')],
    outfile,
    // A library prints a stack for each client that disconnects in the middle of a stream.
    drop: ['console'],
    inject: [join(import.meta.dirname, '../src/http/light-globals.ts')],
    // Wraps the bundle in a function with the parameter `require`: the launcher compiles it as a script.
    banner: { js: '(function(require){' },
    footer: { js: '})' },
    plugins: [loadBeside, replaceUnused, loadBuiltinsLate],
  })
  await build({
    ...COMMON,
    entryPoints: [fileURLToPath(import.meta.resolve('chokidar'))],
    outfile: join(dirname(outfile), CHOKIDAR_BUNDLE),
    // Otherwise environment variables of the image could change how the daemon watches.
    define: { 'process.env.CHOKIDAR_USEPOLLING': 'undefined', 'process.env.CHOKIDAR_INTERVAL': 'undefined' },
  })
}

/** Bundles the image tool into a separate file. The daemon does not contain or load it. */
export async function bundleImageTool(outfile: string): Promise<void> {
  await build({
    ...COMMON,
    entryPoints: [join(import.meta.dirname, '../src/image-tool/main.ts')],
    outfile,
    define: { 'import.meta.dirname': '__dirname' },
  })
}

/** Bundles the file service of volumes. It loads everything before its root changes: only the native file is beside it. */
export async function bundleVolumeServer(outfile: string): Promise<void> {
  await build({
    ...COMMON,
    entryPoints: [join(import.meta.dirname, '../src/volume-server/main.ts')],
    outfile,
    plugins: [loadBeside],
  })
}

/** Ends the process that the first bundle starts, and that would live as long as this one. No bundle may be in the making. */
export const endBundler = (): Promise<void> => stop()

/** The native file of the foreign-function library for this machine. */
export function findKoffiBinary(): string {
  const koffi = createRequire(join(import.meta.dirname, '../src/main.ts')).resolve('koffi')
  const binding = `@koromix/koffi-${process.platform}-${process.arch}`
  const loader = createRequire(koffi).resolve(binding)
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  return join(loader, '..', `${header.glibcVersionRuntime === undefined ? 'musl' : process.platform}_${process.arch}`, KOFFI_BINARY)
}

/** The native file of the terminal library for this machine. */
export function findPtyBinary(): string {
  const library = createRequire(join(import.meta.dirname, '../src/main.ts')).resolve('node-pty')
  return createRequire(library).resolve(`@lydell/node-pty-${process.platform}-${process.arch}/${PTY_BINARY}`)
}

/** Modules that are loaded from files beside the bundle. (koffi's own loader inspects Node's executable, which is the dynamic loader here.) */
const BESIDE: Readonly<Record<string, string>> = {
  koffi: `module.exports = require('./${KOFFI_BINARY}')`,
  chokidar: `module.exports = require('./${CHOKIDAR_BUNDLE}')`,
  'node-pty/requireBinary.js': `exports.requireBinary = () => require('./${PTY_BINARY}')`,
}

const loadBeside: Plugin = {
  name: 'load-beside',
  setup(builder) {
    builder.onResolve({ filter: /^(?:koffi|chokidar|node-pty\/requireBinary\.js)$/ }, ({ path }) => ({ path, namespace: 'beside' }))
    builder.onResolve({ filter: /./, namespace: 'beside' }, ({ path }) => ({ path, external: true }))
    builder.onLoad({ filter: /./, namespace: 'beside' }, ({ path }) => ({ contents: BESIDE[path] ?? '' }))
  },
}
