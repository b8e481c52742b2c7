/** An account of `/etc/passwd`. */
export interface PasswdEntry {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
  readonly shell: string
}

/** A group of `/etc/group`. */
export interface GroupEntry {
  readonly name: string
  readonly gid: number
  readonly members: readonly string[]
}

/** Reads the text of `/etc/passwd`. Lines that name no usable account (comments, NIS entries, ids that are not numbers) are skipped. */
export function parsePasswd(text: string): PasswdEntry[] {
  return usableLines(text).flatMap((line) => {
    const [name = '', , uid = '', gid = '', , home, ...rest] = line.split(':')
    if (!isName(name) || !isId(uid) || !isId(gid) || home === undefined) return []
    return [{ name, uid: Number(uid), gid: Number(gid), home, shell: rest.join(':') }]
  })
}

/** Reads the text of `/etc/group`. Skips the same kinds of lines as {@link parsePasswd}. */
export function parseGroup(text: string): GroupEntry[] {
  return usableLines(text).flatMap((line) => {
    const [name = '', , gid = '', members] = line.split(':')
    if (!isName(name) || !isId(gid) || members === undefined) return []
    return [{ name, gid: Number(gid), members: members.split(',').filter((member) => member !== '') }]
  })
}

function usableLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** A leading `+` or `-` marks an NIS entry, which is an instruction and not an account. */
function isName(name: string): boolean {
  return name !== '' && !name.startsWith('+') && !name.startsWith('-')
}

function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= 0xffff_ffff
}
