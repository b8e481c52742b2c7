import { readFileSync } from 'node:fs'
import { BASE_TEMPLATE_FOLDER } from '../../packages/runtime-docker/src/images/base-image.ts'
import { fetchNodeFiles, type NodeVersions } from '../../packages/runtime-docker/src/images/node-files.ts'
import type { FetchedFiles } from './stand-in.ts'

/** The versions in the `base` template, so that both share the downloaded packages. */
export const NODE_VERSIONS = JSON.parse(readFileSync(new URL('node.json', BASE_TEMPLATE_FOLDER), 'utf8')) as NodeVersions

/** `local/`, with what becomes `/usr/local`. @throws AppError `failed_precondition` that says what to do */
export async function fetchNode(onLine: (line: string) => void): Promise<FetchedFiles> {
  const files = await fetchNodeFiles(NODE_VERSIONS, onLine)
  return { sources: [{ folder: files.folder, names: ['local'] }], [Symbol.asyncDispose]: () => files[Symbol.asyncDispose]() }
}
