import type { FileEntry } from '@sandyard/dashboard-contract/files'
import { MAX_EDIT_BYTES, MAX_IMAGE_BYTES } from '@sandyard/dashboard-contract/limits'
import { ApiFailure } from '../../../api/api-failure.ts'
import { call } from '../../../api/call.ts'
import { contentOf } from './file-content.ts'

export type OpenFile =
  | { readonly kind: 'text'; readonly entry: FileEntry; readonly text: string }
  | { readonly kind: 'image'; readonly entry: FileEntry; readonly image: Blob }
  | { readonly kind: 'binary' | 'large' | 'special'; readonly entry: FileEntry }
  | { readonly kind: 'directory'; readonly entry: FileEntry }

/** Reads a file to show it. The version is that from before the content was read: a write between the two is found by the next save. */
export async function openFile(sandboxId: string, path: string, signal: AbortSignal): Promise<OpenFile> {
  const entry = await call('GET /sandboxes/{sandboxId}/files/stat', { params: { sandboxId }, query: { path }, signal })
  if (entry.kind === 'directory') return { kind: 'directory', entry }
  if (entry.kind === 'other') return { kind: 'special', entry }
  if (entry.bytes > MAX_IMAGE_BYTES) return { kind: 'large', entry }
  const blob = await call('GET /sandboxes/{sandboxId}/files/content', { params: { sandboxId }, query: { path }, signal })
  const bytes = new Uint8Array(await blob.arrayBuffer())
  const content = contentOf(bytes)
  if (content.kind === 'image') return { kind: 'image', entry, image: new Blob([bytes], { type: content.type }) }
  if (bytes.length > MAX_EDIT_BYTES) return { kind: 'large', entry }
  return content.kind === 'text' ? { kind: 'text', entry, text: content.text } : { kind: 'binary', entry }
}

/** The text of the file as it is in the image: empty for one that was not there; undefined when it is not text. */
export async function readOriginal(sandboxId: string, path: string): Promise<string | undefined> {
  try {
    const blob = await call('POST /sandboxes/{sandboxId}/changes/original', { params: { sandboxId }, body: { path } })
    const content = contentOf(new Uint8Array(await blob.arrayBuffer()))
    return content.kind === 'text' ? content.text : undefined
  } catch (err) {
    if (err instanceof ApiFailure && err.status === 404) return ''
    throw err
  }
}
