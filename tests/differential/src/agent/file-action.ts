import { appendFile, chmod, lchown, link, mkdir, rename, rm, rmdir, symlink, truncate, utimes, writeFile } from 'node:fs/promises'

/** A change of files by another program in the sandbox. Paths have one character per byte. */
export type FileAction =
  | { readonly do: 'write' | 'append'; readonly path: string; readonly content: string }
  | { readonly do: 'makeDirectory' | 'remove' | 'removeDirectory' | 'touch' | 'truncate'; readonly path: string }
  | { readonly do: 'rename' | 'link' | 'symlink'; readonly path: string; readonly to: string }
  | { readonly do: 'chmod'; readonly path: string; readonly mode: number }
  | { readonly do: 'chown'; readonly path: string; readonly uid: number }

export async function performFileAction(action: FileAction): Promise<void> {
  const path = Buffer.from(action.path, 'latin1')
  const to = Buffer.from('to' in action ? action.to : '', 'latin1')
  switch (action.do) {
    case 'write':
      return writeFile(path, action.content, 'latin1')
    case 'append':
      return appendFile(path, action.content, 'latin1')
    case 'makeDirectory':
      return mkdir(path)
    case 'remove':
      return rm(path, { recursive: true, force: true })
    case 'removeDirectory':
      return rmdir(path)
    case 'touch':
      return utimes(path, 1, 1)
    case 'truncate':
      return truncate(path)
    case 'rename':
      return rename(path, to)
    case 'link':
      return link(path, to)
    case 'symlink':
      return symlink(path, to)
    case 'chmod':
      return chmod(path, action.mode)
    case 'chown':
      return lchown(path, action.uid, action.uid)
  }
}
