import type { SandboxTabProps } from '../sandbox-tab.ts'

export function MonitoringTab({ sandbox }: SandboxTabProps) {
  return <p class="empty">{sandbox.sandboxId}</p>
}
