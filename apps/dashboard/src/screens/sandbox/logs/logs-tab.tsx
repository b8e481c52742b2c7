import type { SandboxTabProps } from '../sandbox-tab.ts'

export function LogsTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
