import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Secret } from '@sandyard/kit/config/secret'
import type { VolumeEndpoint } from '../volume-store.ts'

export interface VolumeQuestion {
  readonly method: string
  readonly url: string
  readonly body?: string
  /** Absent for a request without a key. */
  readonly key?: Secret
}

/** One request to a file service, on a connection of its own: addresses of services and sandboxes are used again. */
export async function askVolume({ host, port }: VolumeEndpoint, question: VolumeQuestion): Promise<{ status: number; text: string }> {
  const { method, url, body, key } = question
  const headers = key === undefined ? {} : { 'x-sandyard-volume-key': key.reveal() }
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, method, path: url, headers, agent: false }, (answer) => {
      text(answer).then((all) => resolve({ status: answer.statusCode ?? 0, text: all }), reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
