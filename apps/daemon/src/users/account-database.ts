import { AccountFile } from './account-file.ts'
import { type GroupEntry, type PasswdEntry, parseGroup, parsePasswd } from './passwd.ts'

/** A system user with all that is needed to act for it. */
export interface Account extends PasswdEntry {
  /** Every group id of the user, the primary one first. */
  readonly groups: readonly number[]
}

/** Account and group names by id, as one state of the files says. */
export interface OwnerNames {
  /** The account's name, or the decimal id where no account has it. */
  user(uid: number): string
  /** The group's name, or the decimal id where no group has it. */
  group(gid: number): string
}

/**
 * The sandbox's accounts, from its files alone: no NSS, since images of every C library must answer alike (envd.md 3.4).
 * Accounts that commands create at run time are known to the next call.
 */
export class AccountDatabase {
  readonly #passwd: AccountFile<readonly PasswdEntry[]>
  readonly #group: AccountFile<readonly GroupEntry[]>
  #names: { passwd: readonly PasswdEntry[]; group: readonly GroupEntry[]; value: OwnerNames } | undefined

  constructor(files: { readonly passwd: string; readonly group: string } = { passwd: '/etc/passwd', group: '/etc/group' }) {
    this.#passwd = new AccountFile(files.passwd, parsePasswd)
    this.#group = new AccountFile(files.group, parseGroup)
  }

  /** Finds an account by its exact name; an id in decimal is not a name. Where two accounts share a name, the first one counts. */
  async lookupUser(name: string): Promise<Account | undefined> {
    const entry = (await this.#passwd.read()).find((candidate) => candidate.name === name)
    if (entry === undefined) return undefined
    const memberships = (await this.#group.read()).filter((group) => group.members.includes(name)).map((group) => group.gid)
    return { ...entry, groups: [...new Set([entry.gid, ...memberships])] }
  }

  /** The names of owners, for entries of the file system. */
  async ownerNames(): Promise<OwnerNames> {
    const [passwd, group] = await Promise.all([this.#passwd.read(), this.#group.read()])
    if (this.#names?.passwd !== passwd || this.#names.group !== group) {
      this.#names = { passwd, group, value: toOwnerNames(passwd, group) }
    }
    return this.#names.value
  }
}

function toOwnerNames(passwd: readonly PasswdEntry[], group: readonly GroupEntry[]): OwnerNames {
  // The first account of an id names it, so later ones must not replace it.
  const users = new Map(passwd.toReversed().map((entry) => [entry.uid, entry.name]))
  const groups = new Map(group.toReversed().map((entry) => [entry.gid, entry.name]))
  return { user: (uid) => users.get(uid) ?? String(uid), group: (gid) => groups.get(gid) ?? String(gid) }
}
