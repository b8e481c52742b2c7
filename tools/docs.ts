/**
 * `npm run docs`: writes the generated parts of the docs. With `--check` it writes nothing and fails when a page is stale. Fails
 * also for links that lead nowhere.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listAreas } from './compatibility/operations.ts'
import { renderCompatibility } from './compatibility/render.ts'
import { findServed } from './compatibility/served.ts'
import { findEdgeCaseTests, findTests } from './compatibility/tests.ts'
import { findBrokenLinks } from './doc-links.ts'
import { fillMetrics } from './metrics.ts'
import { fillChecks } from './doctor-page.ts'
import { exampleEnvironment, fillSettings } from './settings.ts'

const ROOT = join(import.meta.dirname, '..')

const EVIDENCE = { served: findServed(ROOT), tests: findTests(ROOT), edgeCaseTests: findEdgeCaseTests(ROOT) }

const PAGES: Readonly<Record<string, (page: string) => string>> = {
  'docs/compatibility.md': () => renderCompatibility(listAreas(), EVIDENCE),
  'docs/observability.md': fillMetrics,
  'docs/operations.md': fillSettings,
  'docs/doctor.md': fillChecks,
  '.env.example': () =>
    exampleEnvironment(['docker-compose.yml', 'docker/caddy/Caddyfile'].map((file) => readFileSync(join(ROOT, file), 'utf8'))),
}

for (const [name, generate] of Object.entries(PAGES)) {
  const file = join(ROOT, name)
  const present = readIfThere(file)
  const wanted = tryTo(() => generate(present))
  if (wanted === undefined || present === wanted) continue
  if (!process.argv.includes('--check')) {
    writeFileSync(file, wanted)
    continue
  }
  console.error(`${name} is stale: run "npm run docs".`)
  process.exitCode = 1
}

const broken = findBrokenLinks(
  ROOT,
  globSync(['*.md', '{docs,bench,examples,templates,tests}/**/*.md'], { cwd: ROOT, exclude: ['**/node_modules'] }),
)
for (const line of broken) {
  console.error(line)
  process.exitCode = 1
}

/** Undefined after a failure, whose message is printed. */
function tryTo(make: () => string): string | undefined {
  try {
    return make()
  } catch (err) {
    console.error(err instanceof Error ? err.message : err)
    process.exitCode = 1
    return undefined
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
