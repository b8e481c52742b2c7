import { join } from 'node:path'
import { build } from 'esbuild'

/** Bundles the gateway into one module, which runs with any Node of version 24. */
export async function bundleMcpGateway(outfile: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, '../src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module';const require=createRequire(import.meta.url);" },
  })
}
