import { join } from 'node:path'
import { build } from 'esbuild'

/** Bundles the server into one module, which runs with any Node of version 24. */
export async function bundleCodeInterpreter(outfile: string): Promise<void> {
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
    // The library of Jupyter prints a line for each change of a connection.
    drop: ['console'],
    banner: { js: "import { createRequire } from 'node:module';const require=createRequire(import.meta.url);" },
  })
}
