import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ReleaseFailure } from './release-failure.ts'

/** The version of all packages. @throws ReleaseFailure when they differ */
export function readVersion(root: string): string {
  const versions = new Map<string, string[]>()
  for (const folder of ['apps', 'packages']) {
    for (const name of readdirSync(join(root, folder))) {
      const { version } = JSON.parse(readFileSync(join(root, folder, name, 'package.json'), 'utf8')) as { version: string }
      versions.set(version, [...(versions.get(version) ?? []), name])
    }
  }
  const [version] = versions.keys()
  if (version !== undefined && versions.size === 1) return version
  throw new ReleaseFailure(
    `The packages have different versions: ${[...versions].map(([of, names]) => `${of} (${names.join(', ')})`).join('; ')}.`,
  )
}
