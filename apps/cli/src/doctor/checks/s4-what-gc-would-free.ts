import { OWN_REPOSITORIES } from '@sandyard/runtime-docker/labels'
import { ok, warn, type Check, type Finding } from '../check.ts'
import { findUnnamed, listOwnImages, requireInstallation } from '../facts/own-images.ts'
import type { DiskImage } from '../facts/engine-reader.ts'
import { GIB, showBytes } from '../sizes.ts'

const MUCH_BYTES = 10 * GIB

export const whatGcWouldFree: Check = {
  id: 'S4',
  title: 'What gc would free',
  checks:
    'images of `/system/df` by owner: ours in use, ours free (no build, layer or sandbox names them, and they are older than the longest build), others. Over 10 GiB ours free warns',
  why: 'The server removes what it no longer needs every ten minutes; much of it means that the removal fails.',
  todo: 'Run "sandyard gc --dry-run", then "sandyard gc"; the log of the server says why an image could not be removed.',
  async run(facts): Promise<Finding> {
    const installation = await requireInstallation(facts)
    const own = await listOwnImages(facts, installation)
    const before = facts.machine.now() - facts.settings.buildTimeout
    const unnamed = await findUnnamed(
      facts,
      own.filter(({ createdAtMs }) => createdAtMs < before).map(({ name }) => name),
    )
    const ownIds = new Set(own.map(({ id }) => id))
    const kept = new Set(own.filter(({ name }) => !unnamed.has(name)).map(({ id }) => id))
    const sums = { used: 0, free: 0, others: 0, installations: 0 }
    for (const image of (await facts.engine.diskUse()).Images ?? []) {
      const bytes = ownBytes(image)
      if (!ownIds.has(image.Id)) sums[isSandyards(image) ? 'installations' : 'others'] += bytes
      else if (kept.has(image.Id) || image.Containers > 0) sums.used += bytes
      else sums.free += bytes
    }
    const found =
      `ours in use ${showBytes(sums.used)}, ours free ${showBytes(sums.free)}, ` +
      `shared and of other installations ${showBytes(sums.installations)}, others ${showBytes(sums.others)}; layers that images share are not counted`
    return sums.free > MUCH_BYTES ? warn(found) : ok(found)
  },
}

function ownBytes({ Size, SharedSize }: DiskImage): number {
  return Math.max(0, Size - Math.max(0, SharedSize))
}

function isSandyards({ RepoTags }: DiskImage): boolean {
  return (RepoTags ?? []).some((name) => name.startsWith(OWN_REPOSITORIES))
}
