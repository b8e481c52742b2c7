import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readMigrations } from '@sandyard/db/migrations'
import { makeRelease } from './make-release.ts'

const folder = mkdtempSync(join(tmpdir(), 'sandyard-release-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const options = {
  root: join(import.meta.dirname, '../..'),
  folder: join(folder, 'release'),
  hasImages: false,
  allowDirty: true,
  say: () => undefined,
}

/** The lines of SHA256SUMS are in the order of the names. */
function byName(left: string, right: string): number {
  return left.slice(66) < right.slice(66) ? -1 : 1
}

it('makes files with sums, and a command line that runs without this repository', { timeout: 180_000 }, async () => {
  const release = await makeRelease(options)
  const { version } = release
  expect(release.files.map(({ name }) => name)).toEqual([
    `CHANGELOG-${version}.md`,
    `sandyard-${version}-source.tar.gz`,
    `sandyard-${version}.tgz`,
  ])
  expect(release.migrations).toHaveLength((await readMigrations()).length)
  expect(JSON.parse(readFileSync(join(options.folder, 'release.json'), 'utf8'))).toEqual(release)
  const names = readdirSync(options.folder).filter((name) => name !== 'SHA256SUMS')
  const sums = names.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(options.folder, name)))
        .digest('hex')}  ${name}`,
  )
  expect(readFileSync(join(options.folder, 'SHA256SUMS'), 'utf8').trim().split('\n')).toEqual(sums.sort(byName))
  expect(readdirSync(folder)).toEqual(['release'])

  const unpacked = join(folder, 'cli')
  mkdirSync(unpacked)
  execFileSync('tar', ['-xzf', join(options.folder, `sandyard-${version}.tgz`), '-C', unpacked])
  const main = join(unpacked, 'package/apps/cli/src/main.mjs')
  const answer = execFileSync(process.execPath, [main, '--json', 'version'], { cwd: unpacked, encoding: 'utf8' })
  expect(JSON.parse(answer)).toMatchObject({ version })
  expect(readdirSync(join(unpacked, 'package/migrations')).length).toBe(release.migrations.length)

  await expect(makeRelease(options)).rejects.toThrow('exists: name another folder')
})
