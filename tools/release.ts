import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { makeRelease } from './release/make-release.ts'
import { ReleaseFailure } from './release/release-failure.ts'

const USAGE = 'usage: npm run release -- <folder> [--without-images] [--allow-dirty]'

/** Makes the files of a release: npm run release -- <folder>. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'without-images': { type: 'boolean', default: false }, 'allow-dirty': { type: 'boolean', default: false } },
  })
  const [folder] = positionals
  if (folder === undefined || positionals.length > 1) throw new ReleaseFailure(USAGE)
  const { version, tag, files } = await makeRelease({
    root: join(import.meta.dirname, '..'),
    folder: resolve(folder),
    hasImages: !values['without-images'],
    allowDirty: values['allow-dirty'],
    say: (line) => console.error(`making ${line} ...`),
  })
  for (const { name, size } of files) console.log(`${name}  ${(size / 1024 ** 2).toFixed(1)} MiB`)
  console.error(`Sandyard ${version} is in ${folder}. Check it with: sha256sum --check SHA256SUMS. Publish it with: git tag ${tag}`)
}

await main().catch((err: unknown) => {
  console.error(err instanceof ReleaseFailure ? err.message : err)
  process.exitCode = 1
})
