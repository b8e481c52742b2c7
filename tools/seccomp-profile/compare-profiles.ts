/** A profile in the engine's format, as far as it is compared. */
export interface Profile {
  readonly syscalls: readonly Rule[]
}

interface Rule {
  readonly names: readonly string[]
  readonly action: string
  readonly args?: readonly object[] | null
  readonly includes?: Conditions | null
  readonly excludes?: Conditions | null
}

interface Conditions {
  readonly caps?: readonly string[] | null
  readonly arches?: readonly string[] | null
}

/** The container that both profiles are resolved for. */
export interface Subject {
  /** Such as `CAP_CHOWN`. */
  readonly capabilities: readonly string[]
  /** The engine's name of the processor: `amd64`, `arm64`. */
  readonly architecture: string
}

export interface Difference {
  readonly call: string
  /** How it is allowed: `always`, the conditions for its arguments, or `never`. */
  readonly ours: string
  readonly theirs: string
}

/** The calls that two profiles do not allow alike, by name. */
export function compareProfiles(ours: Profile, theirs: Profile, subject: Subject): Difference[] {
  const [left, right] = [allowedCalls(ours, subject), allowedCalls(theirs, subject)]
  return [...new Set([...left.keys(), ...right.keys()])]
    .sort()
    .map((call) => ({ call, ours: left.get(call) ?? 'never', theirs: right.get(call) ?? 'never' }))
    .filter(({ ours, theirs }) => ours !== theirs)
}

/** A rule without conditions wins; of several rules with conditions each allows what it describes. */
function allowedCalls({ syscalls }: Profile, subject: Subject): Map<string, string> {
  const calls = new Map<string, string>()
  for (const rule of syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW')) {
    if (!applies(rule, subject)) continue
    const way = (rule.args ?? []).length === 0 ? 'always' : JSON.stringify(rule.args)
    for (const name of rule.names) {
      const former = calls.get(name)
      if (former !== 'always') calls.set(name, way === 'always' || former === undefined ? way : `${former} or ${way}`)
    }
  }
  return calls
}

/** As the engine decides it: all capabilities of `includes`, none of `excludes`. */
function applies({ includes, excludes }: Rule, { capabilities, architecture }: Subject): boolean {
  const has = (capability: string): boolean => capabilities.includes(capability)
  const arches = includes?.arches ?? []
  if (arches.length > 0 && !arches.includes(architecture)) return false
  if (excludes?.arches?.includes(architecture) === true) return false
  return (includes?.caps ?? []).every(has) && !(excludes?.caps ?? []).some(has)
}
