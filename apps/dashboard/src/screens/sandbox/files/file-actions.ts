import { MAX_UPLOAD_BYTES } from '@sandyard/dashboard-contract/limits'
import { ApiFailure } from '../../../api/api-failure.ts'
import { call } from '../../../api/call.ts'
import { ask } from '../../../parts/ask.tsx'
import { sizeText } from '../../../parts/size-text.ts'
import { toast } from '../../../parts/toasts.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { joinPath } from './file-paths.ts'

/** The address of a file's bytes, which the browser saves by itself: nothing of a large file is held in the page. */
export function contentUrl(sandboxId: string, path: string): string {
  return `/dashboard/api/sandboxes/${encodeURIComponent(sandboxId)}/files/content?${new URLSearchParams({ path }).toString()}`
}

/** Uploads files one by one. A file that is there already is replaced only after a question. */
export async function uploadFiles(sandboxId: string, folder: string, files: readonly File[]): Promise<void> {
  for (const file of files) {
    if (file.size > MAX_UPLOAD_BYTES) toast('failed', texts.tooLarge(file.name, sizeText(MAX_UPLOAD_BYTES)))
    else await uploadFile(sandboxId, joinPath(folder, file.name), file)
  }
}

async function uploadFile(sandboxId: string, path: string, file: File): Promise<void> {
  const close = toast('running', texts.uploading(file.name))
  const put = (version: string | undefined): Promise<unknown> =>
    call('PUT /sandboxes/{sandboxId}/files/content', {
      params: { sandboxId },
      query: version === undefined ? { path } : { path, version },
      body: file,
    })
  try {
    try {
      await put('none')
    } catch (err) {
      if (!(err instanceof ApiFailure && err.status === 412)) throw err
      if (!(await ask({ title: texts.existsTitle(path), text: texts.existsText, button: texts.replace }))) return
      await put(undefined)
    }
    toast('done', texts.uploaded(file.name))
  } catch (err) {
    toast('failed', `${file.name}: ${(err as Error).message}`)
  } finally {
    close()
  }
}
