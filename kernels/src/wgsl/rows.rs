//! Rows of loads in registers. An invocation computes several neighbouring points, one after the other. It
//! loads all that they read before it computes the first, 16 bytes at once where elements are neighbours in
//! memory, because SPIR-V lets buffers overlap: a load that stands below a store stays below it.
//!
//! Memory is bound as *units*: four elements of at most 4 bytes (in `u32` words), two of 8. A *row* is what a
//! stencil reads along one dimension: a few units, shifted so that the first value of the first point is
//! first. After each point the row moves on by one element; so registers are named by constants, and the body
//! is written once.

use super::writer::{PARTS, Writer, int, register};
use crate::dtype::DType;
use crate::ir::Offsets;
use crate::verify::Footprint;

/// Columns with larger gaps are rows of their own: what lies between is loaded for nothing.
const GAP: i32 = 4;

/// Elements of a unit.
pub fn unit_elements(dtype: DType) -> u32 {
    if dtype.size_bytes() == 8 { 2 } else { 4 }
}

/// The WGSL type of a unit.
pub(super) fn unit(dtype: DType) -> String {
    match dtype.size_bytes() {
        1 => "u32".into(),
        2 => "vec2<u32>".into(),
        4 => "vec4<u32>".into(),
        _ => format!("vec2<{}>", register(dtype)),
    }
}

/// Loads of one parameter that are neighbours along one dimension.
pub(super) struct UnitRow {
    pub(super) param: u32,
    dtype: DType,
    /// The offsets of the load with the lowest column.
    first: Offsets,
    /// Columns from the first to the last, inclusive, less one.
    width: u32,
}

impl UnitRow {
    /// The rows of a kernel.
    pub(super) fn all(footprint: &Footprint, dtype: impl Fn(u32) -> DType) -> Vec<UnitRow> {
        let mut rows: Vec<UnitRow> = Vec::new();
        for row in footprint.rows() {
            let mut columns = row.columns.clone();
            columns.sort_unstable();
            let mut last = None;
            for column in columns {
                match (rows.last_mut(), last) {
                    (Some(open), Some(last)) if column - last <= GAP => open.width += (column - last) as u32,
                    _ => {
                        let mut first = row.offsets.clone();
                        first.iter_mut().last().into_iter().for_each(|place| *place = column);
                        rows.push(UnitRow { param: row.param, dtype: dtype(row.param), first, width: 0 });
                    }
                }
                last = Some(column);
            }
        }
        rows
    }

    /// Each load as a row of its own, for values that do not follow each other along the last dimension.
    pub(super) fn each(footprint: &Footprint, dtype: impl Fn(u32) -> DType) -> Vec<UnitRow> {
        let row = |site: &crate::verify::LoadSite| UnitRow {
            param: site.param,
            dtype: dtype(site.param),
            first: site.offsets.clone(),
            width: 0,
        };
        footprint.loads().iter().map(row).collect()
    }

    /// The position of a load in the row, if it is there.
    fn position(&self, param: u32, offsets: &Offsets) -> Option<u32> {
        let (last, outer) = (offsets.last(), offsets.len().saturating_sub(1));
        let same = self.param == param && self.first[..outer] == offsets[..outer];
        let column = last.map_or(0, |&column| column - self.first[outer]);
        (same && (0..=self.width as i32).contains(&column)).then_some(column as u32)
    }

    /// Elements that so many points read.
    fn elements(&self, points: u32) -> u32 {
        points + self.width
    }

    /// Units that hold them, the first element first.
    fn units(&self, points: u32) -> u32 {
        self.elements(points).div_ceil(unit_elements(self.dtype))
    }

    /// Units that hold them wherever the first element lies in its unit.
    fn most_units(&self, points: u32) -> u32 {
        let unit = unit_elements(self.dtype);
        (self.elements(points) + unit - 1).div_ceil(unit)
    }

    /// Words of registers that so many points need.
    pub(super) fn words(&self, points: u32) -> u32 {
        self.most_units(points) * unit_elements(self.dtype) * self.dtype.size_bytes() as u32 / 4
    }
}

/// The step of a parameter from one value to the next, and which of the values are there.
pub(super) struct RowStep {
    /// Elements between neighbouring values: text.
    pub(super) stride: String,
    /// Values at the beginning that are not there, as i32 text.
    pub(super) head: String,
    /// Values at the end that are not there, as i32 text.
    pub(super) tail: String,
}

impl Writer<'_> {
    /// The type of a parameter.
    pub(super) fn dtype(&self, param: u32) -> DType {
        self.kernel.params[param as usize].dtype
    }

    /// Whether a parameter's vectors are bound as what they are made of ([`WgslTarget::whole_vectors`]).
    ///
    /// [`WgslTarget::whole_vectors`]: super::WgslTarget::whole_vectors
    fn is_split(&self, param: u32) -> bool {
        self.target.whole_vectors && self.written(param) && self.dtype(param).size_bytes() > 1
    }

    /// The type of the elements of a parameter's binding.
    pub(super) fn bound_type(&self, param: u32) -> String {
        let dtype = self.dtype(param);
        match (self.is_split(param), dtype.size_bytes()) {
            (true, 8) => register(dtype).to_owned(),
            (true, _) => "u32".to_owned(),
            (false, _) => unit(dtype),
        }
    }

    /// The word of element `e`, or the element itself.
    fn word_of_element(&self, p: u32) -> String {
        match (self.is_split(p), self.dtype(p).size_bytes()) {
            (_, 1) => format!("p{p}[e >> 2u]"),
            (true, 2) => format!("p{p}[e >> 1u]"),
            (true, _) => format!("p{p}[e]"),
            (false, 2) => format!("p{p}[e >> 2u][(e >> 1u) & 1u]"),
            (false, 4) => format!("p{p}[e >> 2u][e & 3u]"),
            (false, _) => format!("p{p}[e >> 1u][e & 1u]"),
        }
    }

    /// The elements of a unit, by its number (i32 text).
    fn parts_of_unit(&self, p: u32, number: &str) -> Vec<String> {
        let parts = if self.dtype(p).size_bytes() == 4 { 4 } else { 2 };
        (0..parts).map(|k| format!("p{p}[({number}) * {parts}i + {k}i]")).collect()
    }

    /// Declares `atP`, an element of a parameter in the low bits of a word, or as itself.
    pub(super) fn declare_at(&mut self, param: u32) {
        let (dtype, p, word) = (self.dtype(param), param, self.word_of_element(param));
        let text = match dtype.size_bytes() {
            1 => format!("fn at{p}(e: u32) -> u32 {{ return ({word} >> ((e & 3u) << 3u)) & 0xffu; }}"),
            2 => format!("fn at{p}(e: u32) -> u32 {{ return ({word} >> ((e & 1u) << 4u)) & 0xffffu; }}"),
            4 => format!("fn at{p}(e: u32) -> u32 {{ return {word}; }}"),
            _ => format!("fn at{p}(e: u32) -> {} {{ return {word}; }}", register(dtype)),
        };
        self.declare(&text);
    }

    /// Appends a line to the declarations.
    pub(super) fn declare(&mut self, line: &str) {
        self.declarations.push_str(line);
        self.declarations.push('\n');
    }

    /// The name of a unit of a row.
    fn unit_name(n: usize, pack: u32, k: u32) -> String {
        format!("r{n}_{pack}_{k}")
    }

    /// Declares the units of rows, and `sN`, the place of the first element in its unit.
    pub(super) fn declare_rows(&mut self, rows: &[UnitRow], pack: u32, points: u32) {
        for (n, row) in rows.iter().enumerate() {
            self.line(&format!("var s{n}_{pack} = 0u;"));
            for k in 0..row.most_units(points) {
                self.line(&format!("var {}: {};", Writer::unit_name(n, pack, k), unit(row.dtype)));
            }
        }
    }

    /// Fills rows with what `points` neighbouring points read. The element of the first point of parameter P
    /// is `eP_pack`.
    pub(super) fn load_rows(
        &mut self,
        rows: &[UnitRow],
        pack: u32,
        points: u32,
        along: impl Fn(&Self, u32) -> RowStep,
    ) {
        for (n, row) in rows.iter().enumerate() {
            let delta = self.delta(row);
            self.line(&format!("let b{n}_{pack} = e{}_{pack}{delta};", row.param));
        }
        for param in 0..self.kernel.params.len() as u32 {
            let own: Vec<(usize, &UnitRow)> =
                rows.iter().enumerate().filter(|(_, row)| row.param == param).collect();
            if own.is_empty() {
                continue;
            }
            let along = along(self, param);
            self.line(&format!("if ({} == 1i) {{", along.stride));
            own.iter().for_each(|(n, row)| self.load_units(*n, row, pack, points, &along));
            self.line("} else {");
            own.iter().for_each(|(n, row)| self.load_elements(*n, row, pack, points, &along));
            self.line("}");
        }
    }

    /// The distance of a row's first load from its point, as text to add.
    fn delta(&self, row: &UnitRow) -> String {
        let delta = self.layout.load(row.param, &row.first, self.kernel.params.len());
        delta.map_or(String::new(), |at| format!(" + {}", self.signed(at)))
    }

    /// Puts the load of each row at the point behind those of the points before. The element of parameter P
    /// is `eP`.
    pub(super) fn push_loads(&mut self, rows: &[UnitRow], pack: u32, points: u32) {
        for (n, row) in rows.iter().enumerate() {
            let value = format!("at{}(bitcast<u32>(e{}{}))", row.param, row.param, self.delta(row));
            let units: Vec<String> = (0..row.units(points)).map(|k| Writer::unit_name(n, pack, k)).collect();
            self.push_element(row.dtype, &units, &value);
        }
    }

    fn load_units(&mut self, n: usize, row: &UnitRow, pack: u32, points: u32, along: &RowStep) {
        let (shift, p, last) = (unit_elements(row.dtype).ilog2(), row.param, row.elements(points) - 1);
        let b = format!("b{n}_{pack}");
        let mask = unit_elements(row.dtype) - 1;
        self.line(&format!("s{n}_{pack} = bitcast<u32>({b}) & {mask}u;"));
        self.line(&format!("let low{n} = ({b} + {}) >> {shift}u;", along.head));
        self.line(&format!("let high{n} = ({b} + {last}i - {}) >> {shift}u;", along.tail));
        for k in 0..row.most_units(points) {
            let unit = Writer::unit_name(n, pack, k);
            let at = format!("({b} >> {shift}u) + {k}i");
            let number = format!("min(max({at}, low{n}), high{n})");
            let value = match self.is_split(p) {
                true => format!("{}({})", self::unit(row.dtype), self.parts_of_unit(p, &number).join(", ")),
                false => format!("p{p}[{number}]"),
            };
            let load = format!("{unit} = {value};");
            match k < row.units(points) {
                true => self.line(&load),
                false => self.line(&format!("if ({at} <= high{n}) {{ {load} }}")),
            }
        }
    }

    fn load_elements(&mut self, n: usize, row: &UnitRow, pack: u32, points: u32, along: &RowStep) {
        let last = row.elements(points) - 1;
        for k in 0..row.units(points) {
            let of = |element: u32| {
                let element = (k * unit_elements(row.dtype) + element).min(last);
                format!(
                    "at{}(bitcast<u32>(b{n}_{pack} + min(max({element}i, {}), {last}i - {}) * {}))",
                    row.param, along.head, along.tail, along.stride
                )
            };
            let parts: Vec<String> = (0..unit_elements(row.dtype)).map(of).collect();
            let value = assembled(row.dtype, &parts);
            self.line(&format!("{} = {value};", Writer::unit_name(n, pack, k)));
        }
    }

    /// Shifts rows so that the first element is first in its unit.
    pub(super) fn align_rows(&mut self, rows: &[UnitRow], pack: u32, points: u32) {
        for (n, row) in rows.iter().enumerate() {
            self.line(&format!("if (s{n}_{pack} != 0u) {{"));
            self.move_row(n, row, pack, points, &format!("s{n}_{pack}"));
            self.line("}");
        }
    }

    fn move_row(&mut self, n: usize, row: &UnitRow, pack: u32, points: u32, by: &str) {
        let last = row.most_units(points) - 1;
        for k in 0..row.units(points) {
            let [here, next] = [k, (k + 1).min(last)].map(|k| Writer::unit_name(n, pack, k));
            let moved = self.moved(row.dtype, &here, &next, by);
            self.line(&format!("{here} = {moved};"));
        }
    }

    /// Moves all rows to the next point.
    pub(super) fn advance(&mut self, rows: &[UnitRow], pack: u32, points: u32) {
        rows.iter().enumerate().for_each(|(n, row)| self.move_row(n, row, pack, points, "1u"));
    }

    /// The elements of a unit and the next one, from number `by` on; `by` is less than a unit, and not 0.
    fn moved(&mut self, dtype: DType, unit: &str, next: &str, by: &str) -> String {
        let routine = match dtype.size_bytes() {
            1 => "move8",
            2 => "move16",
            4 => "move32",
            _ => return format!("vec2<{}>({unit}.y, {next}.x)", register(dtype)),
        };
        self.call(routine, &format!("{unit}, {next}, {by}"))
    }

    /// The value of a load, so many points behind the present one.
    pub(super) fn loaded(
        &mut self,
        rows: &[UnitRow],
        pack: u32,
        site: (u32, &Offsets),
        behind: u32,
    ) -> String {
        let (dtype, element) = (self.dtype(site.0), self.element_of(rows, pack, site, behind));
        if dtype.size_bytes() == 8 { element } else { self.unpack(dtype, &element) }
    }

    /// The element of a load, or the word that it is the low part of.
    pub(super) fn element_of(
        &self,
        rows: &[UnitRow],
        pack: u32,
        (param, offsets): (u32, &Offsets),
        behind: u32,
    ) -> String {
        let found = rows.iter().enumerate().find_map(|(n, row)| Some((n, row.position(param, offsets)?)));
        let Some((n, position)) = found else { unreachable!("rows hold every load") };
        let (dtype, position) = (self.dtype(param), position + behind);
        let per_unit = unit_elements(dtype);
        part(&Writer::unit_name(n, pack, position / per_unit), dtype, position % per_unit)
    }

    /// Puts an element, or the word that it is the low part of, behind those of the points before, in the
    /// units `oP_k`.
    pub(super) fn push(&mut self, param: u32, points: u32, element: &str) {
        let dtype = self.dtype(param);
        let units: Vec<String> =
            (0..points / unit_elements(dtype)).map(|k| format!("o{param}_{k}")).collect();
        self.push_element(dtype, &units, element);
    }

    /// Puts an element, or the word that it is the low part of, behind those in some units.
    fn push_element(&mut self, dtype: DType, units: &[String], value: &str) {
        let new = match dtype.size_bytes() {
            8 => format!("vec2<{0}>({value}, {1})", register(dtype), zero(dtype)),
            1 => value.to_owned(),
            2 => format!("vec2<u32>({value}, 0u)"),
            _ => format!("vec4<u32>({value}, 0u, 0u, 0u)"),
        };
        for (k, unit) in units.iter().enumerate() {
            let next = units.get(k + 1).unwrap_or(&new);
            let moved = self.moved(dtype, unit, next, "1u");
            self.line(&format!("{unit} = {moved};"));
        }
    }

    /// Declares `putP`, which stores one element. Of a narrow type it rewrites the word: nobody else may
    /// write that.
    pub(super) fn declare_put(&mut self, param: u32) {
        let (dtype, p, word) = (self.dtype(param), param, self.word_of_element(param));
        let narrow = |mask: &str, at: &str| {
            format!("fn put{p}(e: u32, x: u32) {{ {word} = ({word} & ~({mask} << {at})) | (x << {at}); }}")
        };
        let text = match dtype.size_bytes() {
            1 => narrow("0xffu", "((e & 3u) << 3u)"),
            2 => narrow("0xffffu", "((e & 1u) << 4u)"),
            4 => format!("fn put{p}(e: u32, x: u32) {{ {word} = x; }}"),
            _ => format!("fn put{p}(e: u32, x: {}) {{ {word} = x; }}", register(dtype)),
        };
        self.declare(&text);
    }

    /// Stores the units of `points` values from element `w` (i32 text) on: whole ones where all values are
    /// there and the element is the first of its unit, else element by element.
    pub(super) fn store_units(&mut self, param: u32, points: u32, w: &str, along: &RowStep) {
        let dtype = self.dtype(param);
        let per_unit = unit_elements(dtype);
        let RowStep { stride, head, tail } = along;
        let shift = per_unit.ilog2();
        self.line(&format!("if (({head} | {tail} | ({w} & {}i)) == 0i && {stride} == 1i) {{", per_unit - 1));
        for k in 0..points / per_unit {
            let number = format!("({w} >> {shift}u) + {k}i");
            match self.is_split(param) {
                true => {
                    for (part, name) in self.parts_of_unit(param, &number).iter().zip(PARTS) {
                        self.line(&format!("{part} = o{param}_{k}.{name};"));
                    }
                }
                false => self.line(&format!("p{param}[{number}] = o{param}_{k};")),
            }
        }
        self.line("} else {");
        for j in 0..points {
            let value = part(&format!("o{param}_{}", j / per_unit), dtype, j % per_unit);
            let value = match dtype.size_bytes() {
                1 => format!("{value} & 0xffu"),
                2 => format!("{value} & 0xffffu"),
                _ => value,
            };
            self.line(&format!(
                "if ({head} <= {j}i && {j}i < {points}i - {tail}) {{ \
                 put{param}(bitcast<u32>({w} + {j}i * {stride}), {value}); }}"
            ));
        }
        self.line("}");
    }
}

/// A unit of elements, each the low part of a word whose other bits are 0, or itself.
pub(super) fn assembled(dtype: DType, parts: &[String]) -> String {
    match (dtype.size_bytes(), parts) {
        (1, [a, b, c, d]) => format!("{a} | ({b} << 8u) | ({c} << 16u) | ({d} << 24u)"),
        (2, [a, b, c, d]) => format!("vec2<u32>({a} | ({b} << 16u), {c} | ({d} << 16u))"),
        _ => format!("{}({})", unit(dtype), parts.join(", ")),
    }
}

/// The word that begins with an element of a unit, or the element itself.
pub(super) fn part(unit: &str, dtype: DType, element: u32) -> String {
    let name = |n: u32| PARTS[n as usize];
    match dtype.size_bytes() {
        1 => format!("({unit} >> {}u)", 8 * element),
        2 => format!("({unit}.{} >> {}u)", name(element / 2), element % 2 * 16),
        _ => format!("{unit}.{}", name(element)),
    }
}

fn zero(dtype: DType) -> String {
    if dtype == DType::F64 { "0.0lf".into() } else { int(dtype, 0) }
}
