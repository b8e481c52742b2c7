import { join } from 'node:path'
import { SANDBOX_PROGRAM } from '@sandyard/kit/bundles/sandbox-program'
import { build } from 'esbuild'

/** Bundles the server into one module. The library of Jupyter prints a line for each change of a connection, so calls of `console` are dropped. */
export async function bundleCodeInterpreter(outfile: string): Promise<void> {
  await build({ ...SANDBOX_PROGRAM, entryPoints: [join(import.meta.dirname, '../src/main.ts')], outfile, drop: ['console'] })
}
