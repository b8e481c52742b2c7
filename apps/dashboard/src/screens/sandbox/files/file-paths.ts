/** Absolute paths of a sandbox. */
export function joinPath(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

export function parentOf(path: string): string {
  const cut = path.lastIndexOf('/')
  return cut <= 0 ? '/' : path.slice(0, cut)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** `/`, `/home`, `/home/user` for `/home/user`. */
export function foldersTo(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '')
  return ['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)]
}

/** An absolute path without `.`, `..` and double slashes; undefined for a relative one. */
export function cleanPath(text: string): string | undefined {
  if (!text.startsWith('/')) return undefined
  const names: string[] = []
  for (const name of text.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
