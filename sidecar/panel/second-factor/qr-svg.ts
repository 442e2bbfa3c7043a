import qrcode from 'qrcode-generator';

/** Light margin that readers expect, in modules. */
const MARGIN = 4;

/** QR code as SVG: one path of dark modules on white, no script, no style. */
export function qrSvg(text: string): string {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const size = count + 2 * MARGIN;
  const modules = Array.from(
    { length: count * count },
    (_, index) => [Math.floor(index / count), index % count] as const,
  );
  const path = modules
    .filter(([row, column]) => code.isDark(row, column))
    .map(([row, column]) => `M${column + MARGIN} ${row + MARGIN}h1v1h-1z`)
    .join('');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">`,
    `<rect width="${size}" height="${size}" fill="#fff"/><path fill="#000" d="${path}"/></svg>`,
  ].join('');
}
