import { fail, warn, worstOf, type Check, type Finding } from '../check.ts'
import { requireEngineHost, type Facts } from '../facts/facts.ts'
import type { Space } from '../facts/machine.ts'
import { GIB, showBytes, showPercent } from '../sizes.ts'

const WARN_SHARE = 0.15
const FAIL_SHARE = 0.05
const FAIL_BYTES = 5 * GIB

export const spaceAndInodes: Check = {
  id: 'S3',
  title: 'Space and inodes',
  checks:
    'statfs of the folders of the engine, the data and the uploads: under 15 % free warns, under 5 % or 5 GiB fails; the same shares for inodes',
  why: 'On a full disk creates and builds fail, and Postgres stops.',
  todo: 'Delete templates and snapshots that nobody uses, let "sandyard gc" remove leftovers (S4), or give the disk more space.',
  async run(facts): Promise<Finding> {
    const folders = await foldersOf(facts)
    const spaces = await Promise.all(folders.map(async ([name, path]) => ({ name, path, space: await facts.machine.space(path) })))
    const found = spaces.map(
      ({ name, space }) => `${name} ${showBytes(space.freeBytes)} (${showPercent(space.freeBytes / space.totalBytes)})`,
    )
    return worstOf(
      spaces.map(({ name, path, space }) => judge(`${name} (${path})`, space)),
      `free: ${found.join(', ')}`,
    )
  },
}

/** Folders that exist here; that of the engine only when it runs on this machine. */
async function foldersOf(facts: Facts): Promise<(readonly [name: string, path: string])[]> {
  const { dataDir, uploadsDir } = facts.settings
  const isLocal = await requireEngineHost(facts).then(
    () => true,
    () => false,
  )
  const root = isLocal ? (await facts.engine.info().catch(() => undefined))?.DockerRootDir : undefined
  const all: (readonly [string, string])[] = [['data', dataDir]]
  if (root !== undefined) all.unshift(['engine', root])
  if (uploadsDir !== undefined) all.push(['uploads', uploadsDir])
  return all.filter(([, path]) => facts.machine.stat(path) !== undefined)
}

function judge(name: string, { freeBytes, totalBytes, freeInodes, inodes }: Space): Finding | undefined {
  const share = freeBytes / totalBytes
  // File systems without a fixed number of inodes (btrfs) report none.
  const inodeShare = inodes === 0 ? 1 : freeInodes / inodes
  const found = `${name}: ${showBytes(freeBytes)} (${showPercent(share)}) and ${showPercent(inodeShare)} of the inodes are free`
  if (share < FAIL_SHARE || freeBytes < FAIL_BYTES || inodeShare < FAIL_SHARE) return fail(found)
  return share < WARN_SHARE || inodeShare < WARN_SHARE ? warn(found) : undefined
}
