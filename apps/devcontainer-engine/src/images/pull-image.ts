import { join } from 'node:path'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { runProgram } from '../root-file-system/run-program.ts'
import { completeReference, isOnLoopback } from './image-reference.ts'
import type { ImageStore } from './image-store.ts'
import { ownArchitecture, type Image } from './image.ts'
import { readImageConfig } from './oci-layout.ts'

const PULL_MS = 1_800_000

/** Fetches an image with skopeo and gives it its name. Logins are those of `skopeo login` or `~/.docker/config.json`. */
export async function pullImage(store: ImageStore, reference: string): Promise<Image> {
  const completed = completeReference(reference)
  const image = await store.add(async (folder) => {
    const layout = join(folder, 'oci')
    const plainHttp = isOnLoopback(completed) ? ['--src-tls-verify=false'] : []
    // Without a policy file of the machine: no image is signed for a dev container.
    const copy = [
      'skopeo',
      'copy',
      '--insecure-policy',
      '--override-os',
      'linux',
      ...plainHttp,
      `docker://${completed}`,
      `oci:${layout}:image`,
    ]
    await runProgram(copy, { timeoutMs: PULL_MS, keepsErrors: true }).catch((cause: unknown) => {
      if (isAppError(cause, 'failed_precondition')) throw couldNotPull(completed, cause)
      throw cause
    })
    const read = await readImageConfig(layout)
    if (read.architecture !== ownArchitecture())
      throw new AppError(
        'failed_precondition',
        `The image ${completed} is for ${read.architecture}, and this sandbox runs ${ownArchitecture()}`,
      )
    return read
  })
  await store.name(reference, image.id)
  return image
}

function couldNotPull(completed: string, cause: AppError): AppError {
  return new AppError(
    'unavailable',
    `The image ${completed} could not be fetched. Its registry must be reachable from where the command runs: the sandbox, or the build of its template. skopeo says: ${cause.message}`,
    { cause },
  )
}

export async function ensureImage(store: ImageStore, reference: string): Promise<Image> {
  return (await store.find(reference)) ?? pullImage(store, reference)
}
