/** Where a probe runs. */
export type Place = 'sandbox' | 'sandbox without internet' | 'template step' | 'Dockerfile step' | 'upload'
export type Account = 'user' | 'root'

export const PLACES: readonly Place[] = ['sandbox', 'template step', 'Dockerfile step']
export const ACCOUNTS: readonly Account[] = ['user', 'root']

/** One way out of a sandbox that must be shut. */
export interface Probe {
  /** `[a-z0-9-]`; also the marker of its packets. */
  readonly id: string
  /** What it tries, for the table. */
  readonly title: string
  /**
   * A program in Perl with the functions of `perl/Escape.pm`. It prints `open: ...`, `blocked: ...` or `absent: ...`. A program that
   * prints `sent` has sent packets with its marker, and is open where one of the witnesses outside has received one.
   */
  readonly perl: string
  /** Default: sandboxes, steps of templates and steps of Dockerfiles. */
  readonly places?: readonly Place[]
  /** Default: as user and as root. */
  readonly accounts?: readonly Account[]
  /** Not a way out, but the proof that the place has a network. */
  readonly mustBeOpen?: boolean
  /** In steps of Dockerfiles only a default profile of the engine closes it, which the operator gives the engine (SECURITY.md). */
  readonly byEngineProfile?: boolean
  /** What the control must report. Default: `open: ...`. */
  readonly control?: RegExp
  /** The outcomes of the control, besides `absent: ...`, that mean that this kernel does not have the thing. */
  readonly absent?: RegExp
}

/** The errors of system calls and families of sockets that the kernel does not have. */
export const NOT_IN_KERNEL = /^blocked: (?:ENOSYS|EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT|EOPNOTSUPP|ENODEV|ENOPROTOOPT)$/
