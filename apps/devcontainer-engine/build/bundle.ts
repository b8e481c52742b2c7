import { join } from 'node:path'
import { SANDBOX_PROGRAM } from '@sandyard/kit/bundles/sandbox-program'
import { build } from 'esbuild'

/** Bundles the engine of dev containers into one module. */
export async function bundleDevcontainerEngine(outfile: string): Promise<void> {
  await build({ ...SANDBOX_PROGRAM, entryPoints: [join(import.meta.dirname, '../src/main.ts')], outfile })
}
