/** A command that sets parameters of the kernel now and at each boot. */
export function sysctlCommand(checkId: string, parameters: Readonly<Record<string, number>>): string {
  const file = `/etc/sysctl.d/90-sandyard-${checkId.toLowerCase()}.conf`
  const lines = Object.entries(parameters).map(([name, value]) => `${name} = ${value}\\n`)
  return `printf '${lines.join('')}' > ${file} && sysctl -p ${file}`
}
