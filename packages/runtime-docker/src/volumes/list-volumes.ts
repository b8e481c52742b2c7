import type Docker from 'dockerode'
import { engineCall } from '../engine/docker-errors.ts'
import { LABEL, type Labels, roleFilter } from '../labels.ts'

/** The names of the volumes of an installation in the volume store. */
export async function listVolumes(docker: Docker, installation: string, signal?: AbortSignal): Promise<string[]> {
  const query = { filters: roleFilter(installation, 'volume'), ...(signal === undefined ? {} : { abortSignal: signal }) }
  const { Volumes: found } = await engineCall('The volumes could not be listed.', () => docker.listVolumes(query))
  return found.flatMap(({ Labels: labels }) => (labels as Labels | null)?.[LABEL.volume] ?? [])
}
