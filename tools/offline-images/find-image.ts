import type Docker from 'dockerode'
import { unlessStatus } from '../../packages/runtime-docker/src/engine/docker-errors.ts'
import type { HostAuthorities } from './host-authorities.ts'
import { imageState, type ImageState } from './image-state.ts'
import { sourcesHash } from './sources-hash.ts'
import type { StandIn } from './stand-in.ts'

export interface FoundImage {
  readonly state: ImageState
  /** Undefined for a missing one. */
  readonly id: string | undefined
}

/** What the engine has under the name of a stand-in. */
export async function findImage(docker: Docker, standIn: StandIn, authorities: HostAuthorities | undefined): Promise<FoundImage> {
  const found = await unlessStatus(404, () => docker.getImage(standIn.image).inspect())
  const labels = found === undefined ? undefined : (found.Config.Labels ?? {})
  return { state: imageState(standIn, labels, await sourcesHash(standIn, authorities)), id: found?.Id }
}
