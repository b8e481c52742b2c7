import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrations } from '@sandyard/db/migrations'
import { changelogSection } from './changelog-section.ts'
import { packCli } from './pack-cli.ts'
import { readVersion } from './read-version.ts'
import { ReleaseFailure } from './release-failure.ts'
import { saveImages } from './save-images.ts'

export interface ReleaseOptions {
  readonly root: string
  /** Must not exist. */
  readonly folder: string
  readonly hasImages: boolean
  /** Accepts changes that are not committed; the source archive does not have them. */
  readonly allowDirty: boolean
  readonly say: (line: string) => void
}

/** What `release.json` has. */
export interface Release {
  readonly format: 1
  readonly version: string
  /** The tag that the commit gets when the release is published. */
  readonly tag: string
  readonly commit: string
  readonly createdAt: string
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[]
  readonly images: readonly { readonly name: string; readonly id: string }[]
  readonly files: readonly { readonly name: string; readonly size: number; readonly sha256: string }[]
}

/**
 * Makes a folder with everything that an upgrade moves between. It gets its name when it is complete.
 *
 * @throws ReleaseFailure
 */
export async function makeRelease({ root, folder, hasImages, allowDirty, say }: ReleaseOptions): Promise<Release> {
  if (existsSync(folder)) throw new ReleaseFailure(`${folder} exists: name another folder.`)
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  if (!allowDirty && git('status', '--porcelain') !== '')
    throw new ReleaseFailure('There are changes that are not committed: commit them, or pass --allow-dirty.')
  const version = readVersion(root)
  const section = changelogSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (section === undefined) throw new ReleaseFailure(`CHANGELOG.md has no section "## ${version}".`)
  const record = `tests/schema/${version}.json`
  if (!existsSync(join(root, record))) throw new ReleaseFailure(`There is no ${record}: run "npm run schema:record".`)
  const draft = `${folder}.partial`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  try {
    writeFileSync(join(draft, `CHANGELOG-${version}.md`), section)
    say('the source')
    const prefix = `sandyard-${version}/`
    git('archive', '--format=tar.gz', `--prefix=${prefix}`, `--output=${join(draft, `sandyard-${version}-source.tar.gz`)}`, 'HEAD')
    say('the npm package of the command line')
    await packCli(root, version, draft)
    if (hasImages) say('the images of Compose')
    const images = hasImages ? (await saveImages(version, draft)).images : []
    const release: Release = {
      format: 1,
      version,
      tag: `v${version}`,
      commit: git('rev-parse', 'HEAD'),
      createdAt: new Date().toISOString(),
      migrations: (await readMigrations(join(root, 'migrations'))).map(({ name, sha256 }) => ({ name, sha256 })),
      images,
      files: await sumFiles(draft),
    }
    writeFileSync(join(draft, 'release.json'), `${JSON.stringify(release, undefined, 2)}\n`)
    writeFileSync(join(draft, 'SHA256SUMS'), (await sumFiles(draft)).map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''))
    renameSync(draft, folder)
    return release
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function sumFiles(folder: string): Promise<Release['files']> {
  const files: Release['files'][number][] = []
  for (const name of readdirSync(folder).sort()) {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk as Buffer)
    files.push({ name, size: statSync(join(folder, name)).size, sha256: hash.digest('hex') })
  }
  return files
}
