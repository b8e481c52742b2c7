import { ImageCollector } from '../../../../apps/api/src/builds/upkeep/collect-images.ts'
import { silentLogger } from '../../../../packages/kit/src/logging/create-logger.ts'
import { connectEngine } from '../../../../packages/runtime-docker/src/engine/connect-engine.ts'
import { KeptImages } from '../../../../packages/runtime-docker/src/images/kept-images.ts'
import { roleFilter } from '../../../../packages/runtime-docker/src/labels.ts'
import { collectLeftovers } from '../../../../packages/runtime-docker/src/upkeep/collect-leftovers.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { openDatabase } from './unfinished.ts'

const DAY_MS = 24 * 3_600_000

/**
 * Two passes of the collectors that leave young things alone for hours: images that a killed server may still be storing, and helper
 * containers that it may still be starting. Here all servers are known to do nothing, so nothing is too young.
 */
export async function collectYoung({ engine, installation, postgres }: ChaosStack): Promise<void> {
  const docker = await connectEngine(engine)
  await using database = openDatabase(postgres.url)
  const kept = new KeptImages(docker, installation)
  const unused = (): never => {
    throw new Error('the collector does not do this')
  }
  const images = {
    list: () => kept.list(),
    remove: (image: string) => kept.remove(image),
    pull: unused,
    inspect: unused,
    buildDockerfile: unused,
  }
  const collector = new ImageCollector({ database, images, log: silentLogger() })
  // Other installations on the engine may use the volume as well.
  const { Volumes } = await docker.listVolumes({ filters: roleFilter(installation, 'daemon-volume') })
  for (let pass = 0; pass < 2; pass += 1) {
    await collector.collect(-DAY_MS)
    await kept.sweep()
    await collectLeftovers({ docker, installation, volumeName: Volumes[0]?.Name ?? '' }, Date.now() + 2 * DAY_MS)
  }
}
