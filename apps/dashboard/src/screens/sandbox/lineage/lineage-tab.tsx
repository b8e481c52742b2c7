import type { SandboxTabProps } from '../sandbox-tab.ts'

export function LineageTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
