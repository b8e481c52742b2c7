import { chmod, glob, lchown, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findUser } from '../root-file-system/find-user.ts'
import { resolveInRoot } from '../root-file-system/resolve-in-root.ts'
import { copyTree, mergeTree } from '../root-file-system/run-program.ts'

export interface CopyFiles {
  /** The build's context, or the root file system of another stage. */
  readonly from: string
  readonly sources: readonly string[]
  /** The root file system of the stage. */
  readonly root: string
  /** An absolute path in it; a last slash says that it is a folder. */
  readonly destination: string
  /** `user`, `user:group`, or ids; root without it. */
  readonly owner: string | undefined
  /** Octal digits; the modes of the sources without it. */
  readonly mode: string | undefined
  /** Where files wait before they get their owner. */
  readonly temporary: string
}

/** COPY: files into the root file system, with the content of folders, as Docker does it. */
export async function copyFiles({ from, sources, root, destination, owner = '0:0', mode, temporary }: CopyFiles): Promise<void> {
  if (mode !== undefined && !/^[0-7]{3,4}$/.test(mode))
    throw new AppError('unimplemented', `--chmod=${mode} is not supported: give octal digits`)
  const { uid, gid } = await findUser(root, owner)
  const found = (await Promise.all(sources.map((source) => findSources(from, source)))).flat()
  const target = await resolveInRoot(root, destination, { makeParents: true })
  const isFolder = destination.endsWith('/') || found.length > 1 || (await isDirectory(target))
  const staging = await mkdtemp(join(temporary, 'copy-'))
  try {
    for (const source of found) {
      const content = join(staging, 'content')
      await mkdir(content)
      const isTree = await isDirectory(source)
      if (isTree) await copyTree(source, content)
      else await mergeTree(source, join(content, isFolder ? basename(source) : basename(target)))
      await own(content, { uid, gid, mode })
      const into = isTree || isFolder ? target : dirname(target)
      await mkdir(into, { recursive: true })
      for (const name of await readdir(content)) await mergeTree(join(content, name), await intoFolder(root, into, name))
      await rm(content, { recursive: true })
    }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** A link to a folder at that place is followed, so that `lib` may be a link in the image. */
async function intoFolder(root: string, folder: string, name: string): Promise<string> {
  const inside = join(folder, name).slice(root.length)
  const followed = await resolveInRoot(root, inside)
  return (await isDirectory(followed)) ? followed : join(folder, name)
}

/** What the name or pattern means in the context. Links, and `..`, lead to nothing outside of it. */
async function findSources(from: string, source: string): Promise<string[]> {
  const isPattern = /[*?[]/.test(source)
  const names = isPattern ? (await Array.fromAsync(glob(source.replace(/^\/+/, ''), { cwd: from }))).sort() : [source]
  const paths = await Promise.all(names.map((name) => resolveInRoot(from, name)))
  const found = await Array.fromAsync(paths, async (path) => ((await exists(path)) ? [path] : []))
  if (found.flat().length === 0) throw new AppError('not_found', `${isPattern ? 'nothing matches' : 'there is no'} '${source}'`)
  return found.flat()
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

async function own(folder: string, { uid, gid, mode }: { uid: number; gid: number; mode: string | undefined }): Promise<void> {
  // Only with `withFileTypes` does it not go into the folders that links lead to.
  for (const { parentPath, name } of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(parentPath, name)
    const stats = await lstat(path)
    await lchown(path, uid, gid)
    if (!stats.isSymbolicLink()) await chmod(path, mode === undefined ? stats.mode & 0o7777 : Number.parseInt(mode, 8))
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false
}
