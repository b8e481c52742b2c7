import { AccountFile } from './account-file.ts'
import { type GroupEntry, type PasswdEntry, parseGroup, parsePasswd } from './passwd.ts'

/** A system user with all that is needed to act for it. */
export interface Account extends PasswdEntry {
  /** Every group id of the user, the primary one first. */
  readonly groups: readonly number[]
}

/** Account and group names by id. */
export interface OwnerNames {
  /** The account's name, or the decimal id where no account has it. */
  user(uid: number): string
  /** The group's name, or the decimal id where no group has it. */
  group(gid: number): string
}

/** The account that every kernel has. */
const ROOT: PasswdEntry = { name: 'root', uid: 0, gid: 0, home: '/root', shell: '/bin/sh' }

/** The accounts of one moment. */
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
 * The sandbox's accounts, from its files alone: no NSS, since images of every C library must answer alike (envd.md 3.4).
 * Accounts that commands create at run time are known to the next call. Where no account is listed, as in images of a single
 * program, root exists: the image tool makes the first accounts as root.
 */
export class AccountDatabase {
  readonly #passwd: AccountFile<readonly PasswdEntry[]>
  readonly #group: AccountFile<readonly GroupEntry[]>
  #latest: { passwd: readonly PasswdEntry[]; groups: readonly GroupEntry[]; accounts: Accounts } | undefined

  constructor(files: { readonly passwd: string; readonly group: string } = { passwd: '/etc/passwd', group: '/etc/group' }) {
    this.#passwd = new AccountFile(files.passwd, parseAccounts)
    this.#group = new AccountFile(files.group, parseGroup)
  }

  /** All accounts as they are now. */
  async read(): Promise<Accounts> {
    const [passwd, groups] = await Promise.all([this.#passwd.read(), this.#group.read()])
    if (this.#latest?.passwd !== passwd || this.#latest.groups !== groups) {
      this.#latest = { passwd, groups, accounts: new Accounts(passwd, groups) }
    }
    return this.#latest.accounts
  }

  /** Finds an account by its exact name, where its groups do not matter: that is one file less to look at than {@link read}. */
  async lookupUser(name: string): Promise<PasswdEntry | undefined> {
    return findByName(await this.#passwd.read(), name)
  }
}

/** An id in decimal is not a name. Where two accounts share a name, the first one counts. */
function findByName(passwd: readonly PasswdEntry[], name: string): PasswdEntry | undefined {
  return passwd.find((entry) => entry.name === name)
}

function parseAccounts(text: string): PasswdEntry[] {
  const listed = parsePasswd(text)
  return listed.length > 0 ? listed : [ROOT]
}
