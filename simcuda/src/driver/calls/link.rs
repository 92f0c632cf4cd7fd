//! The linker: PTX in, a binary image out, which `cuModuleLoadData` takes. The image is the text with a head;
//! what it was linked for is checked when it is loaded.

use super::super::abi::{Code, HandleKind, Opaque, handle};
use super::super::state::{Link, place};
use super::image::{IMAGE, INFO_LOG, LOG, check, write_log};
use super::{Out, Text, exports};

/// `CU_JIT_INPUT_PTX`.
const PTX: u32 = 1;

exports! {
    fn cuLinkCreate_v2(count: u32, options: Out<u32>, values: Out<Out<u8>>, out: Out<Opaque>) Current,
    |driver, device| {
        let logs = [count as usize, options.address(), values.address()];
        let link = Link { device, logs, text: None, image: Vec::new() };
        out.put(handle(HandleKind::Link, place(&mut driver.links, link)))
    }

    fn cuLinkAddData_v2(
        link: Opaque, kind: u32, data: Out<u8>, bytes: usize, name: Text, count: u32, options: Out<u32>,
        values: Out<Out<u8>>,
    ) Current, |driver, _device| {
        let number = driver.link(link)?;
        if kind != PTX || count != 0 || options.asked() || values.asked() {
            return Err(super::not_simulated(driver, "linking anything but PTX without options of its own"));
        }
        let text = data.bytes(bytes)?;
        // As the driver wants it: the nul counts.
        let text = text.strip_suffix(b"\0").ok_or(Code::INVALID_VALUE)?;
        let text = String::from_utf8(text.to_vec()).map_err(|_| Code::INVALID_IMAGE)?;
        let name = name.read()?;
        let Some(Some(link)) = driver.links.get_mut(number) else { return Err(Code::INVALID_HANDLE) };
        let [count, options, values] = link.logs;
        let (count, options, values) = (count as u32, Out::at_address(options), Out::at_address(values));
        if link.text.is_some() {
            return Err(super::not_simulated(driver, "linking several texts"));
        }
        match check(&driver.config, link.device, &text) {
            Ok(program) => {
                let said = format!("{name}: simulated, {program:?}");
                link.text = Some(text);
                write_log(count, options, values, INFO_LOG, &said)
            }
            Err((code, said)) => write_log(count, options, values, LOG, &said).and(Err(code)),
        }
    }

    fn cuLinkComplete(link: Opaque, image: Out<Opaque>, bytes: Out<usize>) Current, |driver, _device| {
        let number = driver.link(link)?;
        let sm = driver.config.sm;
        let Some(Some(link)) = driver.links.get_mut(number) else { return Err(Code::INVALID_HANDLE) };
        let text = link.text.as_ref().ok_or(Code::INVALID_VALUE)?;
        let head = [&IMAGE[..], &sm.to_le_bytes(), &(text.len() as u64).to_le_bytes()].concat();
        link.image = [&head, text.as_bytes()].concat();
        // Moving the link moves no byte of the image, which lies there until the link is destroyed.
        image.put(link.image.as_mut_ptr().cast())?;
        bytes.put(link.image.len())
    }

    fn cuLinkDestroy(link: Opaque) Current, |driver, _device| {
        let link = driver.link(link)?;
        driver.links[link] = None;
        Ok(())
    }
}
