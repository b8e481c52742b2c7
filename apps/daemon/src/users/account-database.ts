import { AccountFile } from './account-file.ts'
import { type GroupEntry, type PasswdEntry, parseGroup, parsePasswd } from './passwd.ts'

/** A system user with its groups, home directory and shell. */
export interface Account extends PasswdEntry {
  /** Every group id of the user, the primary one first. */
  readonly groups: readonly number[]
}

/** Account and group names by id. */
export interface OwnerNames {
  /** The account's name, or the decimal id if no account has it. */
  user(uid: number): string
  /** The group's name, or the decimal id if no group has it. */
  group(gid: number): string
}

/** The account of uid 0, for images whose files list no account. */
const ROOT: PasswdEntry = { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/sh' }

/** A snapshot of the accounts. */
export class Accounts implements OwnerNames {
  readonly #passwd: readonly PasswdEntry[]
  readonly #groups: readonly GroupEntry[]
  readonly #userNames: ReadonlyMap<number, string>
  readonly #groupNames: ReadonlyMap<number, string>

  constructor(passwd: readonly PasswdEntry[], groups: readonly GroupEntry[]) {
    this.#passwd = passwd
    this.#groups = groups
    // The first account of an id names it, so later ones must not replace it.
    this.#userNames = new Map(passwd.toReversed().map((entry) => [entry.uid, entry.name]))
    this.#groupNames = new Map(groups.toReversed().map((entry) => [entry.gid, entry.name]))
  }

  /** Finds an account by its exact name, with all its groups. */
  findUser(name: string): Account | undefined {
    const entry = findByName(this.#passwd, name)
    if (entry === undefined) return undefined
    const memberships = this.#groups.filter((group) => group.members.includes(name)).map((group) => group.gid)
    return { ...entry, groups: [...new Set([entry.gid, ...memberships])] }
  }

  user(uid: number): string {
    return this.#userNames.get(uid) ?? String(uid)
  }

  group(gid: number): string {
    return this.#groupNames.get(gid) ?? String(gid)
  }
}

/**
 * The sandbox's accounts, read from its files without NSS, because the result must not depend on the image's C library (envd.md 3.4).
 * The next call finds accounts that commands create at run time. If the files list no account, as in images of a single program,
 * root exists: the image tool creates the first accounts as root.
 */
export class AccountDatabase {
  readonly #passwd: AccountFile<readonly PasswdEntry[]>
  readonly #group: AccountFile<readonly GroupEntry[]>
  #latest: { passwd: readonly PasswdEntry[]; groups: readonly GroupEntry[]; accounts: Accounts } | undefined

  constructor(files: { readonly passwd: string; readonly group: string } = { passwd: '/etc/passwd', group: '/etc/group' }) {
    this.#passwd = new AccountFile(files.passwd, parseAccounts)
    this.#group = new AccountFile(files.group, parseGroup)
  }

  /** Reads the current accounts. */
  async read(): Promise<Accounts> {
    const [passwd, groups] = await Promise.all([this.#passwd.read(), this.#group.read()])
    if (this.#latest?.passwd !== passwd || this.#latest.groups !== groups) {
      this.#latest = { passwd, groups, accounts: new Accounts(passwd, groups) }
    }
    return this.#latest.accounts
  }

  /** Finds an account by its exact name, without its groups. Checks one file instead of the two of {@link read}. */
  async lookupUser(name: string): Promise<PasswdEntry | undefined> {
    return findByName(await this.#passwd.read(), name)
  }
}

/** A decimal id is not a name. If two accounts have the same name, the first one counts. */
function findByName(passwd: readonly PasswdEntry[], name: string): PasswdEntry | undefined {
  return passwd.find((entry) => entry.name === name)
}

function parseAccounts(text: string): PasswdEntry[] {
  const listed = parsePasswd(text)
  return listed.length > 0 ? listed : [ROOT]
}
