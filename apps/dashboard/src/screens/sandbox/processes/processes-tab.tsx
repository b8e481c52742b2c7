import type { SandboxTabProps } from '../sandbox-tab.ts'

export function ProcessesTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
