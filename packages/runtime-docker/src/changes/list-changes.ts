import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { RuntimeChanges } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { statusOf, toAppError } from '../engine/docker-errors.ts'
import { parseChanges, withoutParents } from './parse-changes.ts'
import { readCapped } from './read-capped.ts'

export interface ListChangesRequest {
  /** Of the engine's answer. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** The mount point of the init program that the engine puts into a container. */
const INIT_PROGRAMS = new Set(['/sbin/docker-init', '/usr/sbin/docker-init'])

/** What the writable layer of a container has, in any state of it. @throws AppError; the abort reason */
export async function listChanges(docker: Docker, name: string, { maxBytes, signal }: ListChangesRequest): Promise<RuntimeChanges> {
  signal.throwIfAborted()
  try {
    const { Id, Mounts } = await docker.getContainer(name).inspect({ abortSignal: signal })
    const mounted = new Set(Mounts.map(({ Destination }) => Destination))
    const answer = await openChanges(docker, Id, signal)
    try {
      const capped = await readCapped(answer as AsyncIterable<Buffer>, maxBytes)
      const changes = withoutParents(parseChanges(capped)).filter(({ path }) => !mounted.has(path) && !INIT_PROGRAMS.has(path))
      return { changes, isCut: capped.isCut }
    } finally {
      answer.destroy()
    }
  } catch (err) {
    signal.throwIfAborted()
    if (statusOf(err) === 404) throw new AppError('not_found', 'The sandbox does not exist.', { cause: err })
    throw toAppError(err, 'The changes of the sandbox could not be listed.')
  }
}

/** As a stream: dockerode's own call reads an answer of any size into memory. */
function openChanges(docker: Docker, id: string, signal: AbortSignal): Promise<Readable> {
  const call = {
    path: `/containers/${id}/changes`,
    method: 'GET',
    isStream: true,
    abortSignal: signal,
    statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
  }
  return new Promise((resolve, reject) => {
    docker.modem.dial(call, (err: Error | null, answer: unknown) => {
      if (err === null) resolve(answer as Readable)
      else reject(err)
    })
  })
}
