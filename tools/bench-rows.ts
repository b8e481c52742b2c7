/** `npm run bench:rows`: what work of the control plane costs for each row, by the number of rows. See bench/README.md. */
import '../bench/src/rows/main.ts'
