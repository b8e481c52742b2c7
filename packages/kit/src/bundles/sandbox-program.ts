/** Options of esbuild for a program of a ready-made template: one module, which runs with any Node of version 24. */
export const SANDBOX_PROGRAM = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  // Modules of CommonJS in the bundle call it.
  banner: { js: "import { createRequire } from 'node:module';const require=createRequire(import.meta.url);" },
} as const
