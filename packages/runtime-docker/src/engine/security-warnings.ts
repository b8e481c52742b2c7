import { stepRights } from '../seccomp/step-rights.ts'
import type { EngineFacts } from './engine-facts.ts'
import { flawsOf, type ComponentVersion, type EngineComponent, type Flaw } from './known-flaws.ts'

/** The processors for which the profile of sandboxes has been written. */
const PROFILED = new Set(['x86_64', 'aarch64'])

/** Whether the engine takes the seccomp profile of sandboxes. */
export function takesProfile({ seccomp, architecture }: EngineFacts): boolean {
  return seccomp.isSupported && PROFILED.has(architecture)
}

/** What the operator should know of this engine at the start of the server: one sentence for each problem. */
export function securityWarnings(facts: EngineFacts): string[] {
  const warnings: string[] = []
  if (!facts.seccomp.isSupported) {
    warnings.push('This Docker engine has no seccomp: sandboxes may make every system call. Use an engine and a kernel with seccomp.')
  } else if (!takesProfile(facts)) {
    warnings.push(`There is no seccomp profile of sandboxes for ${facts.architecture}: sandboxes have the default profile of the engine.`)
  }
  warnings.push(...describeFlaws('engine', 'The Docker engine', { version: facts.version }))
  if (facts.runc !== undefined) warnings.push(...describeFlaws('runc', 'runc', facts.runc))
  const rights = stepRights(facts.seccomp, facts.version)
  if (rights.length > 0) {
    warnings.push(
      `The RUN steps of Dockerfiles have the default seccomp profile of the engine ("${facts.seccomp.defaultProfile}"), not that of ` +
        `sandboxes. They may ${rights.join('; ')}. Start the engine with the profile of "npm run seccomp" (docs/operations.md).`,
    )
  }
  return warnings
}

function describeFlaws(component: EngineComponent, name: string, found: ComponentVersion): string[] {
  const flaws = flawsOf(component, found)
  if (flaws.length === 0) return []
  const list = flaws.map(({ cve, effect, fixedIn }: Flaw) => `${cve} (${effect}; fixed in ${fixedIn.join(', ')})`).join(', ')
  return [`${name} ${found.version} has known flaws: ${list}. Update it, unless its distribution has repaired this version.`]
}
