/** Regenerates `packages/daemon-protocol/src/gen` from `proto/`. Needs no network. */
import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const bin = join(root, 'node_modules/.bin')

for (const args of [['lint'], ['generate']]) {
  const { status, error } = spawnSync('buf', args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
