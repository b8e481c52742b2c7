/** `npm run docs`: writes the pages that are generated from the code. With `--check` it writes nothing and fails when one is stale. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listAreas } from './compatibility/operations.ts'
import { renderCompatibility } from './compatibility/render.ts'
import { findServed } from './compatibility/served.ts'
import { findTests } from './compatibility/tests.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = 'docs/compatibility.md'

const page = renderCompatibility(listAreas(), { served: findServed(ROOT), tests: findTests(ROOT) })
if (!process.argv.includes('--check')) writeFileSync(join(ROOT, PAGE), page)
else if (readIfThere(join(ROOT, PAGE)) !== page) {
  console.error(`${PAGE} is stale: run "npm run docs".`)
  process.exitCode = 1
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
