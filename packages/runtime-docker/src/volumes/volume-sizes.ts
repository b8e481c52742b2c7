import type Docker from 'dockerode'
import { LABEL, type Labels } from '../labels.ts'

/** A volume in the engine's answer; the size is -1 where its driver cannot tell it. */
interface MeasuredVolume {
  readonly Labels?: Labels | null
  readonly UsageData?: { readonly Size: number } | null
}

/** Bytes of the volumes of an installation by name. The engine walks the files of all its volumes. */
export async function readVolumeSizes(docker: Docker, installation: string, signal?: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const { Volumes: volumes } = await askUsage(docker, signal)
  return new Map(
    (volumes ?? []).flatMap(({ Labels: labels, UsageData: usage }): [string, number][] => {
      const name = labels?.[LABEL.volume]
      const isOurs = labels?.[LABEL.installation] === installation && labels[LABEL.role] === 'volume'
      return name === undefined || !isOurs || usage === undefined || usage === null || usage.Size < 0 ? [] : [[name, usage.Size]]
    }),
  )
}

/** `docker.df` of the library cannot ask for volumes only. Engines before 23 ignore the parameter. */
function askUsage(docker: Docker, signal: AbortSignal | undefined): Promise<{ Volumes?: readonly MeasuredVolume[] | null }> {
  const call = { path: '/system/df?type=volume', method: 'GET', statusCodes: { 200: true, 500: 'server error' }, abortSignal: signal }
  return new Promise((resolve, reject) => {
    docker.modem.dial(call as Parameters<Docker['modem']['dial']>[0], (err: unknown, answer: unknown) => {
      if (err === null) resolve(answer as { Volumes?: readonly MeasuredVolume[] })
      else reject(err)
    })
  })
}
